// Rollouts on a real scheduler and real controllers, over nodes whose devices are fewer than a surge wants.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../operator/src/kube/client.js';
import { resources } from '../../operator/src/kube/resources.js';
import type { Pod } from '../../operator/src/kube/types.js';
import { replacementOf } from '../../operator/src/plan/rollouts/replacement.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { eventually } from '../processes.js';
import { ClaimedDevices } from './claimed-devices.js';
import { FakeNodes } from './fake-nodes.js';
import { World, type RunningOperator } from './operator-world.js';
import { ReadyEndpoints } from './ready-endpoints.js';
import { WatchedClient } from './watched-client.js';

jest.setTimeout(180_000);

/** The first time on a machine kwok is compiled. */
const startTimeoutMs = 900_000;
let world: World;
let nodes: FakeNodes;
let operator: RunningOperator;
let client: WatchedClient;

const capabilities = { images: { cpu: null, cuda: null, hip: 'example.org/runtime:1' } };

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  nodes = FakeNodes.start(world.api, ['resourceclaim-controller']);
}, startTimeoutMs);

afterAll(async () => {
  await nodes.stop();
  await world.stop();
});

function startOperator(unschedulableMs: number): void {
  client = new WatchedClient(world.api.kubeConfig('operator'));
  operator = world.startOperator({ capabilities, timing: { imagePullMs: 3_000, unschedulableMs } }, client);
}

beforeEach(() => startOperator(3_000));

afterEach(() => operator.stop());

/** A service that is Ready on a pool of its own, one node per number of devices. */
async function ready(name: string, devicesPerNode: readonly number[], spec: object = {}): Promise<void> {
  for (const [index, devices] of devicesPerNode.entries()) await nodes.add(`${name}-${index}`, name, devices);
  await world.createService(name, {
    model: world.model('models/llama/'),
    accelerator: { resourceName: 'amd.com/gpu', devices: 1, memoryPerDevice: '8Gi' },
    nodeSelector: { pool: name },
    ...spec,
  });
  await world.condition(name, 'Ready', 'True');
}

const edit = (name: string, spec: object) => world.patch(resources.llmServices, name, { spec });

/** Waits until the newest generation is Ready, and nothing of an older one is left. */
async function rolledOut(name: string, replicas = 1): Promise<void> {
  await eventually(`${name} rolled out`, async () => {
    const { metadata } = (await world.get(resources.llmServices, name))!;
    const { conditions } = await world.status(name);
    const done = conditions?.find(({ type }) => type === 'Ready');
    if (done?.status !== 'True' || done.observedGeneration !== metadata.generation) {
      throw new Error(JSON.stringify(conditions));
    }
    return (await podsOf(name)).length === replicas;
  });
}

const podsOf = async (name: string) =>
  (await world.list(resources.pods, `llmservice.dev/service=${name}`)) as Pod[];
const replacement = async (name: string) => replacementOf(await world.deployment(name));

describe('without a spare device', () => {
  test('an old pod makes room for the new one, and nothing waits for ever', async () => {
    await ready('full', [1]);
    await edit('full', { engine: { maxNumSeqs: 5 } });
    await rolledOut('full');
    expect(await replacement('full')).toBe('drain');
  });

  test('of two replicas one always answers', async () => {
    await ready('pair', [1, 1], { replicas: 2 });
    const endpoints = await ReadyEndpoints.watch(world.api, 'pair', 2);
    await edit('pair', { engine: { maxNumSeqs: 5 } });
    await rolledOut('pair', 2);
    expect(endpoints.fewest()).toBe(1);
  });

  test('a pod that wants what two old ones hold gets it', async () => {
    await ready('larger', [2], { replicas: 2 });
    await edit('larger', { replicas: 1, accelerator: { devices: 2 }, sharedMemory: { sizeLimit: '1Gi' } });
    await rolledOut('larger');
  });

  test('an operator that may not read nodes finds out by trying', async () => {
    await operator.stop();
    // Long enough to be seen trying.
    startOperator(10_000);
    client.before = ({ path }) => {
      if (path === '/api/v1/nodes') throw new ApiError(403, 'nodes is forbidden', 'Forbidden');
    };
    await ready('observed', [1]);
    await edit('observed', { engine: { maxNumSeqs: 5 } });
    await world.condition('observed', 'Scheduled', 'False', 'Unschedulable');
    expect(await replacement('observed')).toBe('surge');
    await rolledOut('observed');
    expect(await replacement('observed')).toBe('drain');
  });

  test('a surge that the spec asks for waits, and the old pod serves', async () => {
    await ready('waiting', [1], { rollout: { strategy: 'Surge' } });
    const endpoints = await ReadyEndpoints.watch(world.api, 'waiting');
    await edit('waiting', { engine: { maxNumSeqs: 5 } });
    await world.condition('waiting', 'Scheduled', 'False', 'Unschedulable');
    await sleep(5_000);
    expect(endpoints.fewest()).toBe(1);
    await edit('waiting', { rollout: { strategy: 'Auto' } });
    await rolledOut('waiting');
  });

  test('a pod that no node has room for costs no serving one', async () => {
    await ready('huge', [1]);
    const endpoints = await ReadyEndpoints.watch(world.api, 'huge');
    await edit('huge', { accelerator: { devices: 2 }, sharedMemory: { sizeLimit: '1Gi' } });
    const { message } = await world.condition('huge', 'Scheduled', 'False', 'Unschedulable');
    expect(message).toContain('Free amd.com/gpu on a node');
    await sleep(5_000);
    expect(endpoints.fewest()).toBe(1);
    await world.condition('huge', 'Serving', 'True');
  });

  test('a bad image is rolled back: the device goes back to the good one', async () => {
    await ready('swapped', [1]);
    await edit('swapped', { engine: { image: 'example.org/absent:1' } });
    const { message } = await world.condition('swapped', 'Ready', 'False', 'RolledBack');
    expect(message).toContain('Back-off pulling image example.org/absent:1');
    await world.condition('swapped', 'Serving', 'True');
    expect(JSON.stringify(await podsOf('swapped'))).not.toContain('absent');
  });
});

describe('with a spare device', () => {
  test('a rollout never has fewer endpoints than replicas', async () => {
    await ready('spare', [2, 1], { replicas: 2 });
    const endpoints = await ReadyEndpoints.watch(world.api, 'spare', 2);
    await edit('spare', { engine: { maxNumSeqs: 5 } });
    await rolledOut('spare', 2);
    expect(await replacement('spare')).toBe('surge');
    expect(endpoints.fewest()).toBe(2);
  });

  test.each([
    ['absent', 'ImagePullFailed'],
    ['crashing', 'Crashed'],
  ])('an image that is %s is rolled back, and nobody notices', async (image, reason) => {
    await ready(image, [2, 1], { replicas: 2 });
    const endpoints = await ReadyEndpoints.watch(world.api, image, 2);
    await edit(image, { engine: { image: `example.org/${image}:1` } });
    await world.condition(image, 'Ready', 'False', 'RolledBack');
    expect((await world.status(image)).lastFailure).toMatchObject({ reason, terminal: true, generation: 2 });
    await eventually('only good pods', async () => {
      const pods = await podsOf(image);
      return pods.length === 2 && !JSON.stringify(pods).includes(`example.org/${image}`);
    });
    expect(endpoints.fewest()).toBe(2);
    await edit(image, { engine: { image: null } });
    await rolledOut(image, 2);
  });
});

describe('devices by claims', () => {
  let devices: ClaimedDevices;
  const claimed = (name: string, accelerator: object = {}) =>
    world.createService(name, {
      model: world.model('models/llama/'),
      accelerator: { profile: 'mi300x-cpx-nps4', devices: 2, claim: {}, ...accelerator },
      sharedMemory: { sizeLimit: '1Gi' },
      nodeSelector: { pool: 'claimed' },
    });

  /** No controller here deletes what a service leaves behind: its pods would take devices. */
  const released = async (name: string): Promise<void> => {
    await edit(name, { stop: true });
    await eventually(`no pods of ${name}`, async () => (await podsOf(name)).length === 0);
    await world.delete(resources.llmServices, name);
  };

  /** The scheduler's words alone stand there for a moment, if they came while devices were read. */
  const unschedulable = (name: string, devicesFound: string): Promise<string> =>
    eventually(`${name}: ${devicesFound}`, async () => {
      const { message } = await world.condition(name, 'Scheduled', 'False', 'Unschedulable');
      return message.includes(devicesFound) ? message : null;
    });

  beforeAll(async () => {
    devices = new ClaimedDevices(world, nodes);
    await devices.installDriver();
    await devices.addNode('claimed-0', 'claimed', 2);
  });

  test('are the partitions of the profile, and of no extended resource', async () => {
    await claimed('claimed');
    await world.condition('claimed', 'Ready', 'True');
    expect(await devices.heldBy('claimed')).toEqual(['partition-1', 'partition-2']);
    const template = JSON.stringify((await world.deployment('claimed')).spec?.template);
    expect(template).toContain('"claims":[{"name":"devices"}]');
    expect(template).not.toContain('amd.com/gpu');
  });

  test('that nobody has left are reported, without names of nodes', async () => {
    await claimed('late', { devices: 1 });
    const message = await unschedulable('late', '(AMD_Instinct_MI300X* amdgpu-partition cpx_nps4) is free.');
    expect(message).toContain('cannot allocate all claims');
    expect(message).not.toContain('claimed-0');
    await released('late');
  });

  test('that no driver lists are named beside those that are listed', async () => {
    await claimed('dpx', { profile: 'mi300x-dpx-nps1' });
    const message = await unschedulable('dpx', 'No driver lists a device that the claim selects');
    expect(message).toContain('AMD Instinct MI300X OAM amdgpu-partition cpx_nps4');
    await released('dpx');
  });

  test('are released for a new revision, whose template of claims replaces the old one', async () => {
    const [before = ''] = await devices.templatesOf('claimed');
    await edit('claimed', { accelerator: { devices: 1 } });
    await rolledOut('claimed');
    expect(await replacement('claimed')).toBe('drain');
    await eventually('one template', async () => (await devices.templatesOf('claimed')).length === 1);
    expect(await devices.templatesOf('claimed')).not.toContain(before);
  });

  test('come from a template that the spec names, and a missing one is reported', async () => {
    await released('claimed');
    await claimed('own', { claim: { templateName: 'two' } });
    const { message } = await world.condition('own', 'Scheduled', 'False', 'ClaimTemplateMissing');
    expect(message).toContain('There is no ResourceClaimTemplate two in the namespace default');
    await devices.makeTemplate('two', 2);
    await world.condition('own', 'Ready', 'True');
    expect(await devices.heldBy('own')).toEqual(['partition-1', 'partition-2']);
    expect(await devices.templatesOf('own')).toEqual([]);
    await released('own');
  });

  test('of the sample reach its pods', async () => {
    const file = new URL('../../deploy/samples/devices-by-claim.yaml', import.meta.url);
    const sample = parse(readFileSync(file, 'utf8')) as { spec: { accelerator: object } };
    await claimed('sample', sample.spec.accelerator);
    await world.condition('sample', 'Ready', 'True');
  });

  test('are refused where ResourceClaims are not served', async () => {
    await operator.stop();
    startOperator(3_000);
    client.before = ({ path }) => {
      if (path.startsWith('/apis/resource.k8s.io')) throw new ApiError(404, 'not found', 'NotFound');
    };
    await claimed('unserved');
    const { message } = await world.condition('unserved', 'Stalled', 'True', 'DeviceClaimsNotServed');
    expect(message).toContain('resource.k8s.io/v1, which Kubernetes has from 1.34 on');
    expect(await world.get(resources.deployments, 'unserved')).toBeNull();
  });
});
