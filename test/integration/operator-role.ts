// What the chart's roles allow, given to a group of users: an operator that asks for more fails in tests too.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadAllYaml } from '@kubernetes/client-node';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { toolFolders } from '../processes.js';
import type { TestCluster } from './test-cluster.js';

/**
 * From now on each of the group `operators` may what the operator's service account may, and nothing else.
 * @param namespace of an operator that is installed for this one, in it; null: one for all, in `default`
 */
export function grantOperatorRole(cluster: TestCluster, namespace: string | null = null): Promise<void> {
  return grant(cluster, 'templates/rbac.yaml', 'operators', namespace);
}

/** Likewise each of the group `activators`. */
export function grantActivatorRole(cluster: TestCluster): Promise<void> {
  return grant(cluster, 'templates/activator-rbac.yaml', 'activators', null);
}

async function grant(
  cluster: TestCluster,
  template: string,
  users: string,
  watched: string | null,
): Promise<void> {
  const group = '/apis/rbac.authorization.k8s.io/v1';
  const rendered = renderChart('llmservice-operator', template, watched);
  for (const object of rendered.filter(({ kind }) => kind.includes('Role'))) {
    const subjects = [{ kind: 'Group', name: users, apiGroup: 'rbac.authorization.k8s.io' }];
    const { namespace } = object.metadata;
    if (namespace !== undefined) await cluster.makeNamespace(namespace);
    const scope = namespace === undefined ? '' : `/namespaces/${namespace}`;
    const body = object.kind.endsWith('Binding') ? { ...object, subjects } : object;
    await cluster.request('POST', `${group}${scope}/${object.kind.toLowerCase()}s`, body);
  }
}

function renderChart(chart: string, template: string, watched: string | null): KubeObject[] {
  const [helm = ''] = toolFolders('helm');
  const folder = fileURLToPath(new URL(`../../charts/${chart}`, import.meta.url));
  const args = [
    'template',
    chart,
    folder,
    '--kube-version',
    '1.34.3',
    '--namespace',
    watched ?? 'default',
    '--set',
    // One for a namespace has no more than that to do with others' Gateways than to know where they are entered.
    watched === null ? 'gateway.name=public,gateway.namespace=gateways' : `watchNamespace=${watched}`,
    '--show-only',
    template,
  ];
  return loadAllYaml(execFileSync(join(helm, 'helm'), args, { encoding: 'utf8' })) as KubeObject[];
}
