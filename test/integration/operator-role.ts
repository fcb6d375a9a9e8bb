// What the chart's roles allow, given to a group of users: an operator that asks for more fails in tests too.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
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

/** Likewise what the operator needs in addition where it converts, with the Secret of its certificate; in `default`. */
export async function grantConversion(cluster: TestCluster): Promise<void> {
  const template = 'templates/conversion.yaml';
  await grant(cluster, template, 'operators', null, '--set', 'conversion.enabled=true');
  const rendered = renderChart(
    'llmservice-operator',
    '--set',
    'conversion.enabled=true',
    '--show-only',
    template,
  );
  for (const secret of rendered.filter(({ kind }) => kind === 'Secret')) await cluster.create(secret);
}

/** Likewise each of the group `activators`. */
export function grantActivatorRole(cluster: TestCluster): Promise<void> {
  return grant(cluster, 'templates/activator-rbac.yaml', 'activators', null);
}

/** The roles of teams, bound to nobody. */
export function grantTeamRoles(cluster: TestCluster): Promise<void> {
  return grant(cluster, 'templates/author-role.yaml', 'nobody', null);
}

async function grant(
  cluster: TestCluster,
  template: string,
  users: string,
  watched: string | null,
  ...more: string[]
): Promise<void> {
  const group = '/apis/rbac.authorization.k8s.io/v1';
  const settings =
    watched === null
      ? // It may read where this Gateway is entered, and nothing else of others' Gateways.
        ['--set', 'gateway.name=public,gateway.namespace=gateways']
      : ['--namespace', watched, '--set', `watchNamespace=${watched}`];
  const rendered = renderChart('llmservice-operator', ...settings, ...more, '--show-only', template);
  for (const object of rendered.filter(({ kind }) => kind.includes('Role'))) {
    const subjects = [{ kind: 'Group', name: users, apiGroup: 'rbac.authorization.k8s.io' }];
    const { namespace } = object.metadata;
    if (namespace !== undefined) await cluster.makeNamespace(namespace);
    const scope = namespace === undefined ? '' : `/namespaces/${namespace}`;
    const body = object.kind.endsWith('Binding') ? { ...object, subjects } : object;
    await cluster.request('POST', `${group}${scope}/${object.kind.toLowerCase()}s`, body);
  }
}

/** The chart's objects, or those of one of its templates, as a release of this name. */
export function renderChart(release: string, ...more: string[]): KubeObject[] {
  const [helm = ''] = toolFolders('helm');
  const folder = fileURLToPath(new URL('../../charts/llmservice-operator', import.meta.url));
  const args = ['template', release, folder, '--kube-version', '1.34.3', '--namespace', 'default', ...more];
  const documents = parseAllDocuments(execFileSync(join(helm, 'helm'), args, { encoding: 'utf8' }));
  // A template may render to nothing.
  return [...documents]
    .map((document) => document.toJS() as KubeObject | null)
    .filter((each) => each !== null);
}
