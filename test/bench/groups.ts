// Replicas on several nodes by LWS's real controller, on a real API server, scheduler and controllers over fake nodes: one group
// serves, a worker's pod that is deleted or fails takes its group with it and is named, a new revision replaces group by
// group, one that fails is gone back from, and a deleted service leaves nothing.
// usage: tsx test/bench/groups.ts, as root; two minutes, and some five of processor time at first, when LWS is built.

import { strict as assert } from 'node:assert';
import { groupLabels, labels } from '@llmservice/crds';
import { resources } from '../../operator/src/kube/resources.js';
import type { Pod } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { FakeNodes } from '../integration/fake-nodes.js';
import { LwsController } from '../integration/lws-controller.js';
import { World } from '../integration/operator-world.js';
import { eventually } from '../processes.js';

const { llmServices, pods, leaderWorkerSets, services } = resources;
const capabilities = { images: { cpu: 'example.org/runtime:1', cuda: null, hip: null } };
const world = await World.start();
world.s3.put('models', 'llama', llamaCheckpoint());
const nodes = FakeNodes.start(world.api, ['statefulset-controller', 'garbage-collector-controller']);
const say = (words: string): void => void process.stdout.write(`${words}\n`);
const edit = (name: string, spec: object) => world.patch(llmServices, name, { spec });
const podsOf = async (name: string) =>
  (await world.list(pods, `${labels.service}=${name}`)).filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  ) as Pod[];
const namesOf = async (name: string) => (await podsOf(name)).map(({ metadata }) => metadata.name).sort();
const uidsOf = async (name: string) => new Set((await podsOf(name)).map(({ metadata }) => metadata.uid));
/** All pods of a group anew. */
const replaced = (name: string, before: ReadonlySet<string | undefined>, count: number) =>
  eventually(`${name}: ${String(count)} new pods`, async () => {
    const now = await uidsOf(name);
    return now.size === count && [...now].every((uid) => !before.has(uid));
  });
const settled = (name: string, generation: number) =>
  eventually(`${name}: Ready by generation ${String(generation)}`, async () => {
    const { conditions } = await world.status(name);
    const ready = conditions?.find(({ type }) => type === 'Ready');
    if (ready?.status === 'True' && ready.observedGeneration === generation) return true;
    throw new Error(JSON.stringify(conditions));
  });

try {
  const lws = await LwsController.start(world.api);
  try {
    await nodes.add('node-a', 'pool', 1);
    await nodes.add('node-b', 'pool', 1);
    world.startOperator({ capabilities, timing: { unschedulableMs: 3_000 } });
    await world.createService('chat', {
      model: world.model('models/llama/'),
      accelerator: { devices: 2 },
      parallelism: { nodes: 2 },
      // Of a pod: no node has room for two.
      resources: { requests: { cpu: '40' }, limits: { memory: '8Gi' } },
    });
    await world.condition('chat', 'Ready', 'True');
    assert.deepEqual(await namesOf('chat'), ['chat-group-0', 'chat-group-0-1']);
    const status = await world.status('chat');
    assert.equal(status.replicas, 1);
    assert.equal(status.readyReplicas, 1);
    const [leader, worker] = await podsOf('chat');
    assert.notEqual(leader?.spec?.nodeName, worker?.spec?.nodeName);
    const env = (worker?.spec?.containers?.[0] as { env?: { name: string; value?: string }[] }).env ?? [];
    const value = (name: string) => env.find((each) => each.name === name)?.value;
    assert.deepEqual(
      ['LWS_LEADER_ADDRESS', 'LWS_GROUP_SIZE', 'LWS_WORKER_INDEX', 'LLMSERVICE_RANK_PORT'].map(value),
      ['chat-group-0.chat-group.default', '2', '1', '7070'],
    );
    const service = (await world.get(services, 'chat'))?.['spec'] as { selector: Record<string, string> };
    assert.equal(service.selector[groupLabels.worker], '0');
    say(`a group of two pods on two nodes: Ready (${(await namesOf('chat')).join(', ')})`);

    const first = await uidsOf('chat');
    await world.delete(pods, 'chat-group-0-1');
    const lost = await world.condition('chat', 'Loaded', 'False', 'GroupRestarted');
    say(lost.message);
    assert.match(lost.message, /group chat-group-0 .* its pod chat-group-0-1 \(worker 1\) was deleted/);
    await replaced('chat', first, 2);
    await world.condition('chat', 'Ready', 'True');
    say('the group is there anew: Ready');

    const second = await uidsOf('chat');
    await world.podFailed(
      'chat-group-0-1',
      JSON.stringify({ reason: 'EngineFault', message: 'the rank lost its device' }),
    );
    const failed = await world.condition('chat', 'Loaded', 'False', 'GroupRestarted');
    say(failed.message);
    assert.match(
      failed.message,
      /chat-group-0-1 \(worker 1\) ended with EngineFault: the rank lost its device/,
    );
    const { lastFailure } = await world.status('chat');
    assert.equal(lastFailure?.pod, 'chat-group-0-1');
    await replaced('chat', second, 2);
    await world.condition('chat', 'Ready', 'True');
    say('after the failure: Ready');

    await edit('chat', { engine: { maxNumSeqs: 5 } });
    await settled('chat', 2);
    // The played leader is Ready without its worker.
    await eventually('both pods', async () => (await podsOf('chat')).length === 2);
    say('a rollout without room for a second group, by drain: Ready');

    await nodes.add('node-c', 'pool', 1);
    await nodes.add('node-d', 'pool', 1);
    await edit('chat', { replicas: 2 });
    await eventually('two groups', async () => (await namesOf('chat')).length === 4);
    await settled('chat', 3);
    assert.equal((await world.status('chat')).readyReplicas, 2);
    say(`two replicas are two groups: ${(await namesOf('chat')).join(', ')}`);

    await eventually('one engine config', async () => {
      const kept = await world.list(resources.configMaps, `${labels.service}=chat`);
      return kept.length === 1;
    });

    await edit('chat', { engine: { image: 'example.org/crashing:1' } });
    const back = await world.condition('chat', 'Ready', 'False', 'RolledBack');
    say(back.message.slice(0, 300));
    await eventually('the former revision serves', async () => {
      const now = await podsOf('chat');
      const ready = (await world.status('chat')).readyReplicas;
      return ready === 2 && now.length === 4;
    });
    say('a revision whose pods crash is gone back from: two groups serve');

    await edit('chat', { stop: true, engine: { image: null } });
    await eventually('no pods', async () => (await podsOf('chat')).length === 0);
    await world.condition('chat', 'Ready', 'False', 'Stopped');
    say('stopped: no pods');

    await world.delete(llmServices, 'chat');
    for (const each of [leaderWorkerSets, services])
      await eventually(
        `no ${each.kind}`,
        async () => (await world.list(each, `${labels.service}=chat`)).length === 0,
      );
    say('deleted: nothing is left');
  } catch (error) {
    say(lws.log().slice(-4_000));
    throw error;
  } finally {
    await lws.stop();
  }
} finally {
  await nodes.stop();
  await world.stop();
}
