// Scaling by load against a real API server: the operator's own loop on metrics that pods report, and KEDA's ScaledObject as
// its project publishes it. The test plays the pods.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { autoscalerManager } from '@llmservice/crds';
import { objectPath, resources } from '../../operator/src/kube/resources.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually, settled } from '../processes.js';
import { FakeReplica } from './fake-replica.js';
import { Kubectl } from './kubectl.js';
import { World } from './operator-world.js';
import { installKedaCrd } from './published-crds.js';

jest.setTimeout(180_000);

let world: World;
/** Answers for every pod. */
let replica: FakeReplica;

const oneGi = { resources: { limits: { memory: '1Gi' } } };
const prometheusUrl = 'http://prometheus.monitoring:9090';

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  replica = await FakeReplica.start();
  world.startOperator({
    podBaseUrl: () => replica.url,
    timing: { idleIntervalMs: 200 },
    capabilities: { prometheusUrl },
  });
}, 180_000);

afterAll(async () => {
  await world.stop();
  replica.stop();
});

const create = (name: string, scaling: object, more: object = {}) =>
  world.createService(name, { model: world.model('models/llama/'), scaling, ...oneGi, ...more });
const replicasOf = async (name: string): Promise<unknown> =>
  ((await world.get(resources.llmServices, name))?.['spec'] as { replicas: number }).replicas;
const replicas = (name: string, wanted: number) =>
  eventually(
    `${String(wanted)} replicas of ${name}`,
    async () =>
      (await replicasOf(name)) === wanted && (await world.deployment(name)).spec?.replicas === wanted,
  );
async function addPods(service: string, ...names: string[]): Promise<void> {
  for (const name of names) {
    await world.makePod(service, name);
    await world.podServes(name);
  }
}
const running = (count: number): void => {
  replica.activity = { running: count, counted: 0 };
};

describe('the operator’s own loop', () => {
  const scaling = { maxReplicas: 3, target: 10, scaleDownStabilizationSeconds: 2 };

  test('leaves a load near its target alone, and writes nothing', async () => {
    running(10);
    await create('own', scaling);
    await replicas('own', 1);
    await addPods('own', 'own-1');
    await world.condition('own', 'ScalingActive', 'True', 'Operator');
    await world.condition('own', 'Ready', 'True');
    const writes = (): number => world.api.writes().filter(({ name }) => name === 'own').length;
    // Ready is written before the Deployment's note of which revision was.
    const before = await settled('what is written', writes);
    await sleep(2_000);
    expect(writes()).toBe(before);
  });

  test('makes as many pods as the load needs, by the scale subresource', async () => {
    replica.activity = { running: 16, waiting: 8, counted: 0 };
    await replicas('own', 3);
    const { metadata } = await world.request('GET', objectPath(resources.llmServices, 'default', 'own'));
    const managers = metadata.managedFields;
    expect(managers).toContainEqual(
      expect.objectContaining({ manager: autoscalerManager, subresource: 'scale' }),
    );
  });

  test('counts pods that start as idle, and never goes beyond its bounds', async () => {
    await world.makePod('own', 'own-2');
    running(1000);
    await sleep(1_000);
    await replicas('own', 3);
    await world.patch(resources.llmServices, 'own', { spec: { replicas: 9 } });
    await replicas('own', 3);
  });

  test('takes no pod away while one cannot be seen, however little the others do', async () => {
    await world.podServes('own-2');
    await addPods('own', 'own-3');
    replica.activity = null;
    await world.condition('own', 'ScalingActive', 'Unknown', 'MetricsUnseen');
    await sleep(3_000);
    await replicas('own', 3);
  });

  test('takes them away once fewer have sufficed for the window', async () => {
    running(3);
    const since = Date.now();
    await replicas('own', 1);
    expect(Date.now() - since).toBeGreaterThan(1_500);
  });

  test('is off where somebody sets replicas to 0', async () => {
    running(1000);
    await world.patch(resources.llmServices, 'own', { spec: { replicas: 0 } });
    await world.condition('own', 'Ready', 'False', 'ScaledToZero');
    await sleep(1_000);
    expect(await replicasOf('own')).toBe(0);
  });
});

test.each<[string, object, string]>([
  ['a minimum above the maximum', { minReplicas: 3, maxReplicas: 2 }, 'spec.scaling.minReplicas'],
  ['a minimum alone', { minReplicas: 3 }, 'spec.scaling.minReplicas'],
  ['a target alone', { target: 3 }, 'spec.scaling.target'],
  ['more than all of the cache', { maxReplicas: 2, metric: 'kvUsage', target: 101 }, 'spec.scaling.target'],
  ['a provider that nobody knows', { provider: 'magic' }, 'spec.scaling.provider'],
  [
    'a schedule of more than the maximum',
    { maxReplicas: 1, schedules: [{ name: 'a', start: '0 8 * * *', end: '0 9 * * *', minReplicas: 2 }] },
    'spec.scaling.schedules',
  ],
])('%s is refused', async (_, scaling, path) => {
  await expect(create('refused', scaling)).rejects.toThrow(path);
});

test('more replicas than share the budgets of the keys are refused', async () => {
  const auth = { keysSecretRef: { name: 'k' }, maxReplicas: 2 };
  await expect(create('refused', { maxReplicas: 3 }, { auth })).rejects.toThrow('spec.scaling');
});

describe('KEDA', () => {
  test('that is asked for and absent is reported', async () => {
    await create('keda', { maxReplicas: 4, provider: 'keda' });
    const { message } = await world.condition('keda', 'ScalingActive', 'False', 'ProviderMissing');
    expect(message).toContain('no KEDA');
  });

  test('gets a ScaledObject that its schema takes, once it is installed', async () => {
    await installKedaCrd(new Kubectl(world.api.kubeConfig()));
    const scaledObject = await eventually('the ScaledObject', () =>
      world.get(resources.scaledObjects, 'keda'),
    );
    expect(scaledObject['spec']).toMatchObject({
      scaleTargetRef: { kind: 'LlmService', name: 'keda' },
      minReplicaCount: 1,
      maxReplicaCount: 4,
    });
    await world.condition('keda', 'ScalingActive', 'Unknown');
  });

  test('is believed, is not written again, and the operator’s own loop stays out of it', async () => {
    running(1000);
    await addPods('keda', 'keda-1');
    const conditions = [{ type: 'Ready', status: 'True', reason: 'ScaledObjectReady', message: '' }];
    await world.patch(resources.scaledObjects, 'keda', { status: { conditions } }, '/status');
    await world.condition('keda', 'ScalingActive', 'True', 'ScaledObject');
    await sleep(1_000);
    expect(await replicasOf('keda')).toBe(1);
    const writes = world.api
      .writes()
      .filter(
        (each) => each.resource === 'scaledobjects' && each.name === 'keda' && each.user === 'operator',
      );
    expect(writes).toHaveLength(1);
  });

  test('goes with the wish for it', async () => {
    const provider = { spec: { scaling: { provider: 'operator' } } };
    await world.patch(resources.llmServices, 'keda', provider);
    await eventually(
      'no ScaledObject',
      async () => (await world.get(resources.scaledObjects, 'keda')) === null,
    );
    await replicas('keda', 4);
  });
});
