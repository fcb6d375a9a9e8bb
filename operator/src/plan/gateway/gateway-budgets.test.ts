// The sample of a gateway with budgets: what its routers read, and by how many they divide it.

import { readFileSync } from 'node:fs';
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

test('has its routers know how many they are', () => {
  const parsed = parseGateway(gateway as KubeObject);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.violations));
  const planned = { ...parsed.gateway, spec: { ...parsed.gateway.spec, replicas: 3 } };
  const table = { gateway: 'experimental/models', models: [] };
  const objects = planGatewayChildren(planned, { image: 'operator', table, routing: null });
  const deployment = objects.find(({ kind }) => kind === 'Deployment') as unknown as {
    spec: { template: { spec: { containers: { env: object[] }[] } } };
  };
  expect(deployment.spec.template.spec.containers[0]?.env).toEqual(
    expect.arrayContaining([
      { name: 'ROUTER_REPLICAS', value: '3' },
      { name: 'KEYS_DIR', value: '/etc/llmservice-keys' },
    ]),
  );
});
