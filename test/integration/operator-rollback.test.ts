// What becomes of a service whose new revision fails: the one that was Ready before comes back, and stays through
// restarts and upgrades of the operator until somebody changes something.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { failureKinds, formatTerminationMessage } from '@llmservice/crds';
import { resources } from '../../operator/src/kube/resources.js';
import type { Deployment } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually } from '../processes.js';
import { World, type RunningOperator } from './operator-world.js';
import { WatchedClient } from './watched-client.js';

jest.setTimeout(120_000);

let world: World;
let operator: RunningOperator;

const oneGi = { resources: { limits: { memory: '1Gi' } } };
const terminal = formatTerminationMessage({ reason: 'KvCacheTooSmall', message: '512 do not fit' });
const upgraded = { images: { cpu: 'example.org/runtime:2', cuda: null, hip: null } };
const scheduled = [{ type: 'PodScheduled', status: 'True' }];

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  operator = world.startOperator();
}, 180_000);

afterAll(() => world.stop());

const templateOf = (deployment: Deployment): object => deployment.spec?.template ?? {};
const container = (change: object) =>
  ({ name: 'runtime', ready: false, restartCount: 0, image: '', imageID: '', ...change }) as never;
const removePod = (name: string) =>
  world.request('DELETE', `/api/v1/namespaces/default/pods/${name}`, { gracePeriodSeconds: 0 });
const revisionsOf = (name: string) =>
  world.list(resources.controllerRevisions, `llmservice.dev/service=${name}`);

/** A service whose first revision is Ready. @returns the template of its pods */
async function ready(name: string, spec: object = {}): Promise<object> {
  await world.createService(name, { model: world.model('models/llama/'), ...oneGi, ...spec });
  await world.makePod(name, `${name}-1`);
  await world.podServes(`${name}-1`);
  await world.condition(name, 'Ready', 'True');
  return templateOf(await world.deployment(name));
}

/** Edits the service and gives it a pod of the new template. */
async function edit(name: string, engine: object): Promise<void> {
  // Other fields of the Deployment may change meanwhile.
  const template = async (): Promise<string> => JSON.stringify(templateOf(await world.deployment(name)));
  const before = await template();
  await world.patch(resources.llmServices, name, { spec: { engine } });
  await eventually('a new template', async () => (await template()) !== before);
  await world.makePod(name, `${name}-2`);
}

async function expectRolledBack(name: string, good: object, reason: string): Promise<void> {
  const { message } = await world.condition(name, 'Ready', 'False', 'RolledBack');
  expect(message).toContain(`failed (${reason})`);
  expect(message).toContain(failureKinds[reason as keyof typeof failureKinds].remedy);
  await eventually('the good template', async () => {
    expect(templateOf(await world.deployment(name))).toEqual(good);
    return true;
  });
  expect((await world.deployment(name)).spec?.replicas).toBe(1);
  await world.condition(name, 'Stalled', 'True', reason);
  await world.condition(name, 'Serving', 'True');
  expect((await world.status(name)).lastFailure).toMatchObject({ reason, terminal: true, generation: 2 });
}

describe('a new revision that fails terminally', () => {
  let good: object;

  test('is reported first, then rolled back, while the pods before it serve', async () => {
    good = await ready('edited');
    await operator.stop();
    const client = new WatchedClient(world.api.kubeConfig('operator'));
    operator = world.startOperator({}, client);
    await edit('edited', { maxNumSeqs: 5 });
    const begun = client.writes.length;
    await world.podFailed('edited-2', terminal);
    await expectRolledBack('edited', good, 'KvCacheTooSmall');
    const writes = client.writes.slice(begun).filter((write) => write.includes('/edited'));
    const at = (part: string) => writes.findIndex((write) => write.includes(part));
    expect(at('/llmservices/edited/status')).toBe(0);
    expect(at('/deployments/edited')).toBeGreaterThan(0);
    const { items } = await world.request<{ items: { reason: string; involvedObject: { name: string } }[] }>(
      'GET',
      '/api/v1/namespaces/default/events',
    );
    const events = items.filter(({ involvedObject }) => involvedObject.name === 'edited');
    expect(events.map(({ reason }) => reason)).toContain('RolledBack');
  });

  test('stays so without its pods, for the next operator, for one of another version, and without S3', async () => {
    await removePod('edited-2');
    const { resourceVersion } = (await world.deployment('edited')).metadata;
    for (const capabilities of [undefined, upgraded]) {
      await operator.stop();
      if (capabilities !== undefined) await world.s3.pause();
      operator = world.startOperator({
        timing: { resyncMs: 200 },
        ...(capabilities === undefined ? {} : { capabilities }),
      });
      await eventually('leadership', () => operator.operator.leading);
      await sleep(1_000);
      expect((await world.deployment('edited')).metadata.resourceVersion).toBe(resourceVersion);
      await world.condition('edited', 'Ready', 'False', 'RolledBack');
    }
    await world.s3.resume();
  });

  test('keeps the config of the good one, and makes it anew where somebody removed it', async () => {
    const name = (good as { spec: { volumes: { configMap?: { name: string } }[] } }).spec.volumes.find(
      ({ configMap }) => configMap !== undefined,
    )?.configMap?.name;
    await world.delete(resources.configMaps, name ?? '');
    await eventually('the config', () => world.get(resources.configMaps, name ?? ''));
  });

  test('scales the good one', async () => {
    await world.patch(resources.llmServices, 'edited', { spec: { replicas: 2 } });
    await eventually('two replicas', async () => (await world.deployment('edited')).spec?.replicas === 2);
    expect(templateOf(await world.deployment('edited'))).toEqual(good);
    await world.patch(resources.llmServices, 'edited', { spec: { replicas: 1 } });
    await world.condition('edited', 'Ready', 'False', 'RolledBack');
  });

  test('is tried again, planned anew, when the retry annotation changes', async () => {
    await world.patch(resources.llmServices, 'edited', {
      metadata: { annotations: { 'llmservice.dev/retry': '1' } },
    });
    await eventually('the new template', async () =>
      JSON.stringify(await world.deployment('edited')).includes('runtime:2'),
    );
    await world.condition('edited', 'Stalled', 'False');
    await world.makePod('edited', 'edited-3');
    await world.podFailed('edited-3', terminal);
    await world.condition('edited', 'Ready', 'False', 'RolledBack');
  });

  test('is forgotten when the spec before it comes back: its pods never went', async () => {
    await removePod('edited-3');
    await world.patch(resources.llmServices, 'edited', { spec: { engine: { maxNumSeqs: null } } });
    await world.condition('edited', 'Ready', 'True');
    expect(templateOf(await world.deployment('edited'))).toEqual(good);
    expect(await revisionsOf('edited')).toHaveLength(1);
  });
});

describe('a new revision is given up', () => {
  const crashed = { terminated: { exitCode: 139, message: 'Segmentation fault' } };

  test.each<[string, string, () => object]>([
    ['restarts', 'Crashed', () => ({ restartCount: 3, state: { running: {} }, lastState: crashed })],
    [
      'image',
      'ImagePullFailed',
      () => ({ state: { waiting: { reason: 'ErrImagePull', message: 'no such' } } }),
    ],
    ['secret', 'LoadStalled', () => ({ state: { waiting: { reason: 'CreateContainerConfigError' } } })],
  ])('%s: %s', async (name, reason, state) => {
    await operator.stop();
    operator = world.startOperator({ timing: { imagePullMs: 2_000 } });
    const good = await ready(name, { rollout: { noProgressTimeoutSeconds: 10 } });
    await edit(name, { maxNumSeqs: 5 });
    const since = new Date(Date.now() - 8_000).toISOString();
    await world.setPodStatus(`${name}-2`, {
      phase: 'Pending',
      conditions: [{ ...scheduled[0]!, lastTransitionTime: since }],
      containerStatuses: [container(state())],
    });
    await expectRolledBack(name, good, reason);
  });

  test('never for want of a node, nor by two restarts', async () => {
    await ready('patient');
    await edit('patient', { maxNumSeqs: 5 });
    const unschedulable = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: 'no node',
    };
    await world.setPodStatus('patient-2', {
      phase: 'Pending',
      conditions: [{ ...unschedulable, lastTransitionTime: '2020-01-01T00:00:00Z' }],
    });
    await world.condition('patient', 'Scheduled', 'False', 'Unschedulable');
    await world.setPodStatus('patient-2', {
      phase: 'Running',
      conditions: scheduled,
      containerStatuses: [container({ restartCount: 2, state: { running: {} }, lastState: crashed })],
    });
    await world.condition('patient', 'Loaded', 'False', 'Crashed');
    await world.condition('patient', 'Stalled', 'False');
  });
});

test('a good revision whose other pods answer is not stopped by one that fails', async () => {
  await world.createService('pair', { model: world.model('models/llama/'), ...oneGi, replicas: 2 });
  for (const pod of ['pair-1', 'pair-2']) {
    await world.makePod('pair', pod);
    await world.podServes(pod);
  }
  await world.condition('pair', 'Ready', 'True');
  await world.podFailed('pair-2', terminal);
  await world.condition('pair', 'Ready', 'False', 'ReplicasStarting');
  await world.condition('pair', 'Stalled', 'False');
  expect((await world.deployment('pair')).spec?.replicas).toBe(2);
});

test('a good revision that fails for good, too, is stopped, and not gone back to', async () => {
  await ready('both');
  await edit('both', { maxNumSeqs: 5 });
  await world.podFailed('both-2', terminal);
  await world.condition('both', 'Ready', 'False', 'RolledBack');
  await removePod('both-2');
  await world.podFailed('both-1', terminal);
  await world.condition('both', 'Serving', 'False');
  await world.condition('both', 'Ready', 'False', 'RolledBack');
  await world.setPodStatus('both-1', {
    phase: 'Running',
    conditions: scheduled,
    containerStatuses: [
      container({
        restartCount: 3,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode: 1, message: terminal } },
      }),
    ],
  });
  await world.condition('both', 'Ready', 'False', 'KvCacheTooSmall');
  await eventually('no replica', async () => (await world.deployment('both')).spec?.replicas === 0);
  await removePod('both-1');
  await sleep(500);
  await world.condition('both', 'Ready', 'False', 'KvCacheTooSmall');
  expect((await world.deployment('both')).spec?.replicas).toBe(0);
});

test('an upgrade of the operator changes no template until the spec does', async () => {
  const before = await ready('pinned');
  await operator.stop();
  operator = world.startOperator({ capabilities: upgraded, timing: { resyncMs: 200 } });
  await eventually('leadership', () => operator.operator.leading);
  await world.patch(resources.llmServices, 'pinned', { spec: { replicas: 2 } });
  await eventually('two replicas', async () => (await world.deployment('pinned')).spec?.replicas === 2);
  expect(templateOf(await world.deployment('pinned'))).toEqual(before);
  await world.patch(resources.llmServices, 'pinned', { spec: { engine: { maxNumSeqs: 7 } } });
  await eventually('the new image', async () =>
    JSON.stringify(await world.deployment('pinned')).includes('runtime:2'),
  );
});
