// Weights that pods share, as the operator plans them: the pin in the revision, what makes another, and what is refused.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually } from '../processes.js';
import { World, type RunningOperator } from './operator-world.js';

jest.setTimeout(180_000);

let world: World;
let operator: RunningOperator;
beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'cached', { ...llamaCheckpoint(), 'chat_template.jinja': 'one' });
  operator = world.startOperator();
}, 180_000);
afterAll(() => world.stop());

const oneGi = { resources: { limits: { memory: '1Gi' } } };

interface PodTemplate {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly volumes: readonly {
          readonly name: string;
          readonly configMap?: { readonly name: string };
        }[];
      };
    };
  };
}

/** What the pods of a service get about the cache. */
async function cacheOf(name: string): Promise<{ pins: { model: string } }> {
  const { spec } = (await world.deployment(name)) as unknown as PodTemplate;
  const config = spec.template.spec.volumes.find((volume) => volume.name === 'engine-config')?.configMap
    ?.name;
  const configMap = await world.get(resources.configMaps, config ?? '');
  const { 'engine-config.json': text = '' } = configMap?.['data'] as Record<string, string>;
  return (JSON.parse(text) as { model: { cache: { pins: { model: string } } } }).model.cache;
}

const create = (name: string, cache: object) =>
  world.createService(name, { model: { ...world.model('models/cached/'), cache }, ...oneGi });

test('a service with a cache is pinned to the listing of its checkpoint', async () => {
  await create('pinned', { kind: 'hostPath', path: '/var/cache/models', maxSize: '10Gi' });
  await world.condition('pinned', 'ModelResolved', 'True');
  expect(await cacheOf('pinned')).toEqual({
    volume: 'hostPath /var/cache/models/namespaces/default',
    maxBytes: 10 * 2 ** 30,
    verify: 'onPull',
    pins: { model: expect.stringMatching(/^[0-9a-f]{16}$/), head: null },
  });
  await create('claimed', { kind: 'pvc', claimName: 'weights' });
  await world.condition('claimed', 'ModelResolved', 'True');
  expect((await cacheOf('claimed')).pins).toEqual((await cacheOf('pinned')).pins);
});

test('a file that only the pods read makes another revision once it changes, and not before', async () => {
  const before = await cacheOf('pinned');
  await operator.stop();
  operator = world.startOperator();
  await world.condition('pinned', 'ModelResolved', 'True');
  await sleep(1_100);
  expect(await cacheOf('pinned')).toEqual(before);

  // This server distinguishes versions by their time, in whole seconds.
  world.s3.put('models', 'cached', { 'chat_template.jinja': 'two' });
  await world.patch(resources.llmServices, 'pinned', {
    metadata: { annotations: { 'llmservice.dev/retry': '1' } },
  });
  await eventually('another pin', async () => (await cacheOf('pinned')).pins.model !== before.pins.model);
});

test.each(['/etc', '/var/cache/models/link', '/var/cache/models/namespaces/other'])(
  'the folder %s, which the operator does not allow, is refused, with no Deployment',
  async (path) => {
    const name = `refused-${String(path.length)}`;
    await create(name, { kind: 'hostPath', path });
    const { message } = await world.condition(name, 'Scheduled', 'False', 'HostPathNotAllowed');
    expect(message).toContain('(/var/cache/models)');
    expect(message).toContain(`--allow-host-path=${path}`);
    expect(await world.get(resources.deployments, name)).toBeNull();
  },
);

interface PodOfNode {
  readonly initContainers: readonly { readonly image: string; readonly command: readonly string[] }[];
  readonly containers: readonly {
    readonly image: string;
    readonly volumeMounts: readonly { readonly name: string; readonly subPath?: string }[];
  }[];
}

test('of a folder of the node each namespace sees its own part, and the tenant’s image does not prepare it', async () => {
  const spec = { ...oneGi, engine: { image: 'example.org/tenant:1' } };
  const cache = { kind: 'hostPath', path: '/var/cache/models' } as const;
  await world.createService('named', { model: { ...world.model('models/cached/'), cache }, ...spec });
  await world.condition('named', 'ModelResolved', 'True');
  const deployment = (await world.deployment('named')) as unknown as {
    spec: { template: { spec: PodOfNode } };
  };
  const { initContainers, containers } = deployment.spec.template.spec;
  expect(initContainers.map(({ image }) => image)).toEqual(['example.org/operator:1']);
  expect(initContainers[0]?.command).toContain('namespaces/default');
  expect(containers[0]?.image).toBe('example.org/tenant:1');
  expect(containers[0]?.volumeMounts.find(({ name }) => name === 'weights')?.subPath).toBe(
    'namespaces/default',
  );
});

const jobs = () => world.list(resources.jobs, 'llmservice.dev/service=ahead');

test('weights are pulled ahead by a Job into the claim: reported, left alone once done, gone when nobody wants it', async () => {
  await create('ahead', { kind: 'pvc', claimName: 'weights', prePull: true });
  const job = await eventually('the Job', async () => (await jobs())[0]);
  const now = new Date().toISOString();
  const complete = (type: string) => ({ type, status: 'True', lastTransitionTime: now });
  const status = { startTime: now, completionTime: now, succeeded: 1 };
  const conditions = [complete('SuccessCriteriaMet'), complete('Complete')];
  await world.patch(resources.jobs, job.metadata.name, { status: { ...status, conditions } }, '/status');
  await eventually('the condition to say it', async () =>
    (await world.condition('ahead', 'ModelResolved', 'True')).message.includes('1 of 1 Jobs are done'),
  );
  await operator.stop();
  operator = world.startOperator();
  await world.condition('ahead', 'ModelResolved', 'True');
  await sleep(1_000);
  expect((await jobs()).map(({ metadata }) => metadata.uid)).toEqual([job.metadata.uid]);
  await world.patch(resources.llmServices, 'ahead', { spec: { model: { cache: { prePull: false } } } });
  await eventually('no Job', async () => (await jobs()).length === 0);
});
