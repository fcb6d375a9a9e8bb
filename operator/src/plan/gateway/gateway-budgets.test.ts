// The sample of a gateway with budgets: what its routers read, and by how many they divide it.

import { readFileSync } from 'node:fs';
import type { V1Deployment, V1PodSpec } from '@kubernetes/client-node';
import { expect, test } from '@jest/globals';
import { readKeyFile } from '@llmservice/crds';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../kube/types.js';
import { parseGateway } from '../../resource/parse-gateway.js';
import { planGatewayChildren } from './gateway-children.js';

const text = readFileSync(
  new URL('../../../../deploy/samples/gateway-budgets.yaml', import.meta.url),
  'utf8',
);
const [secret, gateway] = parseAllDocuments(text).map((each) => each.toJS() as KubeObject);

test('has keys as routers read them', () => {
  const { stringData } = secret as unknown as { stringData: Record<string, string> };
  const [key] = (readKeyFile(stringData['keys.yaml'] ?? '') as { value: readonly object[] }).value;
  expect(key).toMatchObject({ id: 'team-search', tokensPerDay: 1_000_000, concurrency: 20 });
});

function routerPod(spec: object): V1PodSpec {
  const parsed = parseGateway({
    ...(gateway as KubeObject),
    spec: { ...((gateway as KubeObject)['spec'] as object), ...spec },
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.violations));
  const table = { gateway: 'experimental/models', models: [] };
  const objects = planGatewayChildren(parsed.gateway, { image: 'operator', table, routing: null });
  const deployment = objects.find(({ kind }) => kind === 'Deployment') as unknown as V1Deployment;
  return deployment.spec!.template.spec!;
}

test('has its routers know how many they are', () => {
  expect(routerPod({ replicas: 3 }).containers[0]?.env).toEqual(
    expect.arrayContaining([
      { name: 'ROUTER_REPLICAS', value: '3' },
      { name: 'KEYS_DIR', value: '/etc/llmservice-keys' },
    ]),
  );
});

test('has its routers write their log to a folder of their own', () => {
  const pod = routerPod({ accounting: { persistentVolumeClaimRef: { name: 'usage' } } });
  expect(pod.containers[0]).toMatchObject({
    env: expect.arrayContaining([
      { name: 'ACCOUNTING_DIR', value: '/var/lib/llmservice/accounting/models-gateway' },
      { name: 'GATEWAY', value: 'experimental/models' },
    ]),
    volumeMounts: expect.arrayContaining([
      { name: 'accounting', mountPath: '/var/lib/llmservice/accounting' },
    ]),
  });
  expect(pod.volumes).toContainEqual({ name: 'accounting', persistentVolumeClaim: { claimName: 'usage' } });
  expect(JSON.stringify(routerPod({}))).not.toContain('accounting');
});

test('has its routers pulled and placed as it says', () => {
  const placed = {
    imagePullSecrets: [{ name: 'registry' }],
    nodeSelector: { pool: 'edge' },
    affinity: { nodeAffinity: {} },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    priorityClassName: 'serving',
  };
  expect(routerPod(placed)).toMatchObject(placed);
});
