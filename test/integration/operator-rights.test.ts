// An operator that may not read all that it looks for: kinds of others count as not served, and everything else continues; a
// kind that it needs makes a leader that is not ready, and says so. The API server and its roles are real.

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { serveHttp } from '../../operator/src/http-server.js';
import { resources } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { llmService } from '../builders/llm-service.js';
import { eventually } from '../processes.js';
import { World, type RunningOperator } from './operator-world.js';

jest.setTimeout(180_000);

const rolePath = '/apis/rbac.authorization.k8s.io/v1/clusterroles/llmservice-operator';
interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
}

let world: World;
let rules: readonly Rule[];
beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  ({ rules } = await world.request<KubeObject & { rules: readonly Rule[] }>('GET', rolePath));
}, 600_000);
afterAll(() => world.stop());

/** The role of the operator's chart, without the rules of these resources. */
const mayAllBut = (...taken: string[]): Promise<unknown> => {
  const left = rules.filter((rule) => !rule.resources.some((each) => taken.includes(each)));
  return world.request('PATCH', rolePath, { rules: left }, 'application/merge-patch+json');
};
const oneGi = { resources: { limits: { memory: '1Gi' } } };
const service = (name: string, more: object = {}): Promise<unknown> =>
  world.create(llmService(name, { model: world.model('models/llama/'), ...oneGi, ...more }));
const scraped = ({ operator }: RunningOperator): Promise<string> => operator.metrics.registry.metrics();

describe('an operator that may not read VirtualServices and ScaledObjects', () => {
  let operator: RunningOperator;
  beforeAll(async () => {
    await mayAllBut('virtualservices', 'scaledobjects');
    const istioGateway = { name: 'public', namespace: 'istio' };
    const prometheusUrl = 'http://prometheus.test';
    operator = world.startOperator({
      capabilities: { istioGateway, prometheusUrl },
      timing: { unsyncedMs: 3_000 },
    });
  });
  afterAll(() => operator.stop());

  test('looks after services as ever', async () => {
    await service('plain');
    await world.deployment('plain');
    await world.condition('plain', 'Fits', 'True');
    expect(operator.operator.notReady()).toBeNull();
  });

  test('reports it to whoever wants one of them, and in the metrics', async () => {
    await service('routed', { routing: { host: 'a.test', provider: 'istio' } });
    const { message } = await world.condition('routed', 'Routed', 'False', 'RouteForbidden');
    // One rule of the role has both of istio's kinds.
    expect(message).toMatch(/may not list and watch (destinationrules, )?virtualservices/);
    await service('scaled', { scaling: { provider: 'keda', maxReplicas: 2 } });
    const scaling = await world.condition('scaled', 'ScalingActive', 'False', 'ProviderMissing');
    expect(scaling.message).toContain('may not list and watch scaledobjects');
    const text = await scraped(operator);
    for (const kind of ['virtualservices', 'scaledobjects']) {
      expect(text).toContain(
        `llmservice_operator_unserved_resource{resource="${kind}",namespace="",why="forbidden"} 1`,
      );
    }
    expect(text).toContain('llmservice_operator_ready 1');
  });

  test('continues with them once it may', async () => {
    await mayAllBut();
    // This cluster has no istio, which is known now.
    await eventually(
      'the kind is looked for anew',
      async () => (await world.status('routed')).conditions?.some(({ reason }) => reason === 'IstioMissing'),
      60_000,
    );
  });
});

describe('a leader that may not read Deployments', () => {
  let operator: RunningOperator;
  let server: Server;
  const ready = async (): Promise<{ status: number; text: string }> => {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${String(port)}/readyz`);
    return { status: response.status, text: await response.text() };
  };
  beforeAll(async () => {
    await mayAllBut('deployments');
    operator = world.startOperator({ timing: { unsyncedMs: 3_000 } });
    server = await serveHttp(0, operator.operator.metrics.registry, () => operator.operator.notReady());
  });
  afterAll(async () => {
    server.close();
    await operator.stop();
  });

  test('is ready while it has just begun, and then not, with the reason', async () => {
    await eventually('leadership', () => operator.operator.leading);
    const answer = await eventually('not ready', async () => {
      const seen = await ready();
      return seen.status === 503 ? seen : null;
    });
    expect(answer.text).toContain('leading without a watch of Deployment');
    expect(await scraped(operator)).toContain('llmservice_operator_ready 0');
    // A restart would not help: it is alive.
    const { port } = server.address() as AddressInfo;
    expect((await fetch(`http://127.0.0.1:${String(port)}/healthz`)).status).toBe(200);
  });

  test('is ready and does its work once it may', async () => {
    await service('late');
    await mayAllBut();
    await eventually('ready', async () => (await ready()).status === 200, 60_000);
    await eventually('its Deployment', () => world.get(resources.deployments, 'late'), 60_000);
  });
});

test('an event that is refused fails nothing, and is counted', async () => {
  await mayAllBut('events');
  const operator = world.startOperator();
  await service('quiet', { model: world.model('models/absent/') });
  // A transition that is worth an event.
  await world.condition('quiet', 'ModelResolved', 'False');
  await world.condition('quiet', 'Stalled', 'True');
  await eventually('the count', async () =>
    (await scraped(operator)).includes('llmservice_operator_events_refused_total{reason="Forbidden"}'),
  );
  expect(await scraped(operator)).not.toContain('reconcile_total{result="error"}');
  await operator.stop();
  await mayAllBut();
});
