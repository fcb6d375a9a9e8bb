// Services in queues of the real Kueue, on a real API server, scheduler and controllers over a fake node: what the status says
// of pods that wait for quota, a rollout within a full quota, and what Kueue refuses.
// usage: tsx test/bench/queues.ts, as root; a minute, and six of processor time at first, when Kueue is built.

import { strict as assert } from 'node:assert';
import { resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { FakeNodes } from '../integration/fake-nodes.js';
import { KueueController } from '../integration/kueue-controller.js';
import { World } from '../integration/operator-world.js';
import { eventually } from '../processes.js';

const { llmServices } = resources;
const capabilities = { images: { cpu: null, cuda: null, hip: 'example.org/runtime:1' } };
const world = await World.start();
world.s3.put('models', 'llama', llamaCheckpoint());
// A Workload goes with its pod.
const nodes = FakeNodes.start(world.api, ['garbage-collector-controller']);
const edit = (name: string, spec: object) => world.patch(llmServices, name, { spec });
const serve = (name: string, queueName: string) =>
  world.createService(name, {
    model: world.model('models/llama/'),
    accelerator: { resourceName: 'amd.com/gpu', devices: 1, memoryPerDevice: '8Gi' },
    queueName,
  });
const say = (words: string): void => void process.stdout.write(`${words}\n`);

try {
  const kueue = await KueueController.start(world.api);
  try {
    await kueue.makeQueue('team', 1);
    await nodes.add('node', 'pool', 8);
    world.startOperator({ capabilities, timing: { unschedulableMs: 3_000 } });

    await serve('first', 'team');
    await world.condition('first', 'Ready', 'True');
    say('admitted: Ready');

    await edit('first', { engine: { maxNumSeqs: 5 } });
    await eventually('the new revision', async () => {
      const { conditions } = await world.status('first');
      const ready = conditions?.find(({ type }) => type === 'Ready');
      if (ready?.status === 'True' && ready.observedGeneration === 2) return true;
      throw new Error(JSON.stringify(conditions));
    });
    say('a rollout within a full quota: Ready');

    await serve('second', 'team');
    const held = await world.condition('second', 'Scheduled', 'False', 'Queued');
    say(held.message);
    assert.match(held.message, /in the LocalQueue team: .*amd\.com\/gpu/);

    await serve('lost', 'nowhere');
    await eventually('a queue that is missing', async () => {
      const { message } = await world.condition('lost', 'Scheduled', 'False', 'Queued');
      return message.includes("LocalQueue nowhere doesn't exist. Correct spec.queueName") ? message : null;
    }).then(say);

    await edit('first', { queueName: 'other' });
    const refused = await world.condition('first', 'Scheduled', 'False', 'Forbidden');
    say(refused.message);
    assert.match(refused.message, /queue-name/);

    await edit('first', { queueName: 'team', stop: true });
    await world.condition('second', 'Ready', 'True');
    say('released quota: Ready');
  } catch (error) {
    say(kueue.log().slice(-4_000));
    throw error;
  } finally {
    await kueue.stop();
  }
} finally {
  await nodes.stop();
  await world.stop();
}
