// Services without pods against a real API server: stopped by the spec, or asleep until somebody asks for them.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { activatorName, annotations, labels } from '@llmservice/crds';
import { resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually } from '../processes.js';
import { World, type RunningOperator } from './operator-world.js';
import { FakeReplica } from './fake-replica.js';

jest.setTimeout(180_000);

let world: World;
let replica: FakeReplica;
let operator: RunningOperator;

const oneGi = { resources: { limits: { memory: '1Gi' } } };

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  replica = await FakeReplica.start();
  operator = startOperator();
}, 180_000);

afterAll(async () => {
  await world.stop();
  replica.stop();
});

const startOperator = (): RunningOperator =>
  world.startOperator({ podBaseUrl: () => replica.url, timing: { idleIntervalMs: 200 } });

/** A pod of the activator, as far as the operator sees it. */
async function makeActivator(name: string, podIP: string): Promise<void> {
  await world.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: { [labels.name]: activatorName } },
    spec: { containers: [{ name: 'activator', image: 'example.org/operator:1' }] },
  });
  await world.setPodStatus(name, {
    phase: 'Running',
    podIP,
    conditions: [{ type: 'Ready', status: 'True' }],
  });
}

const endpoints = async (name: string): Promise<string[] | null> => {
  const slice = await world.get(resources.endpointSlices, `${name}-activator`);
  return slice === null
    ? null
    : (slice['endpoints'] as { addresses: string[] }[]).flatMap(({ addresses }) => addresses);
};
const ask = (name: string, value: string): Promise<unknown> =>
  world.patch(resources.llmServices, name, {
    metadata: { annotations: { [annotations.lastRequest]: value } },
  });

const replicas = (name: string, wanted: number) =>
  eventually(
    `${String(wanted)} replicas`,
    async () => (await world.deployment(name)).spec?.replicas === wanted,
  );

describe('a service that is stopped', () => {
  test('has no pods, keeps all else, and is not stalled', async () => {
    await world.createService('stopped', { model: world.model('models/llama/'), replicas: 2, ...oneGi });
    await replicas('stopped', 2);
    await world.patch(resources.llmServices, 'stopped', { spec: { stop: true } });
    const { message } = await world.condition('stopped', 'Ready', 'False', 'Stopped');
    expect(message).toContain('Set it to false');
    await replicas('stopped', 0);
    await world.condition('stopped', 'Stalled', 'False');
    await world.condition('stopped', 'Reconciling', 'False');
    expect(await world.get(resources.services, 'stopped')).not.toBeNull();
    expect(await world.get(resources.llmServices, 'stopped')).toMatchObject({ spec: { replicas: 2 } });
  });

  test('comes back with the replicas and the template that it had', async () => {
    const before = (await world.deployment('stopped')).spec?.template;
    await world.patch(resources.llmServices, 'stopped', { spec: { stop: false } });
    await replicas('stopped', 2);
    expect((await world.deployment('stopped')).spec?.template).toEqual(before);
    await world.makePod('stopped', 'stopped-1');
    await world.makePod('stopped', 'stopped-2');
    for (const pod of ['stopped-1', 'stopped-2']) await world.podServes(pod);
    await world.condition('stopped', 'Ready', 'True');
  });

  test('may be so from the beginning', async () => {
    await world.createService('asleep', { model: world.model('models/llama/'), stop: true, ...oneGi });
    await world.condition('asleep', 'Ready', 'False', 'Stopped');
    await replicas('asleep', 0);
  });
});

describe('a service that nobody asks anything', () => {
  const sleepy = { scaling: { idleAfterSeconds: 2 }, ...oneGi };
  const awake = async (name: string, pod: string): Promise<void> => {
    await world.makePod(name, pod);
    await world.podServes(pod);
    await world.condition(name, 'Ready', 'True', 'Serving');
  };

  test('does not fall asleep without an activator, and says so', async () => {
    await world.createService('sleepy', { model: world.model('models/llama/'), ...sleepy });
    await awake('sleepy', 'sleepy-1');
    await eventually('the reason', async () =>
      (await world.condition('sleepy', 'Ready', 'True')).message.includes('activator.enabled'),
    );
    await replicas('sleepy', 1);
  });

  test('does not while it works, nor while nobody knows', async () => {
    replica.activity = { running: 1, counted: 5 };
    await makeActivator('activator-1', '192.0.2.11');
    await eventually('no reason', async () =>
      (await world.condition('sleepy', 'Ready', 'True')).message.endsWith('answer.'),
    );
    replica.activity = null;
    await eventually('the reason', async () =>
      (await world.condition('sleepy', 'Ready', 'True')).message.includes('answers /metrics with 500'),
    );
    await replicas('sleepy', 1);
    expect(await endpoints('sleepy')).toBeNull();
  });

  test('falls asleep after a while, with the activator behind its Service', async () => {
    replica.activity = { running: 0, counted: 5 };
    await replicas('sleepy', 0);
    expect(await endpoints('sleepy')).toEqual(['192.0.2.11']);
    expect(await world.get(resources.endpointSlices, 'sleepy-activator')).toMatchObject({
      metadata: { labels: { 'kubernetes.io/service-name': 'sleepy' } },
      ports: [{ name: 'http', port: 8082 }],
    });
    // The endpoints were written before the pods went.
    await eventually('the audit log to show it', () => {
      const writes = world.api.writes().filter(({ name }) => name.startsWith('sleepy'));
      const slice = writes.findIndex(({ resource }) => resource === 'endpointslices');
      const last = writes.findLastIndex(({ resource }) => resource === 'deployments');
      return slice > 0 && slice < last;
    });
    await world.delete(resources.pods, 'sleepy-1');
    await world.condition('sleepy', 'Ready', 'True', 'Asleep');
    await world.condition('sleepy', 'Serving', 'False', 'Asleep');
    await world.condition('sleepy', 'Reconciling', 'False');
  });

  test('follows the activator’s pods, and sleeps on through a restart of the operator', async () => {
    await makeActivator('activator-2', '192.0.2.12');
    await eventually('both', async () => (await endpoints('sleepy'))?.length === 2);
    await operator.stop();
    operator = startOperator();
    await eventually('leadership', () => operator.operator.leading);
    await world.patch(resources.pods, 'activator-2', { status: { conditions: null } }, '/status');
    await eventually('one', async () => (await endpoints('sleepy'))?.length === 1);
    await replicas('sleepy', 0);
  });

  test('wakes by a request, and the activator goes once a pod answers', async () => {
    await ask('sleepy', '2026-01-01T00:00:00Z');
    await replicas('sleepy', 1);
    await world.condition('sleepy', 'Ready', 'False');
    expect(await endpoints('sleepy')).not.toBeNull();
    replica.activity = { running: 1, counted: 6 };
    await awake('sleepy', 'sleepy-2');
    await eventually('no endpoints', async () => (await endpoints('sleepy')) === null);
  });

  test('sleeps again, and wakes by a change of its spec', async () => {
    replica.activity = { running: 0, counted: 6 };
    await replicas('sleepy', 0);
    await world.delete(resources.pods, 'sleepy-2');
    await world.condition('sleepy', 'Ready', 'True', 'Asleep');
    await world.patch(resources.llmServices, 'sleepy', { spec: { scaling: { idleAfterSeconds: 3 } } });
    await replicas('sleepy', 1);
  });

  test('that is stopped while it sleeps has no activator either', async () => {
    replica.activity = { running: 1, counted: 6 };
    await awake('sleepy', 'sleepy-3');
    replica.activity = { running: 0, counted: 6 };
    await replicas('sleepy', 0);
    await world.delete(resources.pods, 'sleepy-3');
    await world.patch(resources.llmServices, 'sleepy', { spec: { stop: true } });
    await world.condition('sleepy', 'Ready', 'False', 'Stopped');
    await eventually('no endpoints', async () => (await endpoints('sleepy')) === null);
    await replicas('sleepy', 0);
  });
});

test('sleep is refused beside a path prefix', async () => {
  const spec = { scaling: { idleAfterSeconds: 60 }, routing: { host: 'a.test', pathPrefix: '/a' } };
  const refused = world.createService('refused', { model: { uri: 's3://b/m/' }, ...spec });
  await expect(refused).rejects.toThrow('spec.scaling.idleAfterSeconds');
});
