// Pods that share the ranks of one engine, as LeaderWorkerSet starts them: each a container of its own that reaches the other
// by TCP alone. What clients, probes and the first pod's health see of starts, losses and ends; losses print how long it took.

import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { freePort } from '../processes.js';
import { enginePids } from '../process-tree.js';
import { demoCheckpoint, ReplicaProcess, type ReplicaOptions } from './replica-process.js';

jest.setTimeout(240_000);

const pods: ReplicaProcess[] = [];
afterEach(async () => {
  await Promise.all(pods.splice(0).map((pod) => pod.stop()));
});

interface Group {
  readonly size: number;
  readonly tensor: number;
  readonly stages?: number;
  readonly port: number;
}

async function startPod(
  group: Group,
  index: number,
  changes: Partial<ReplicaOptions> = {},
): Promise<ReplicaProcess> {
  const pod = await ReplicaProcess.start({
    uri: demoCheckpoint,
    tensor: group.tensor,
    env: {
      LLMSERVICE_THREADS: '1',
      PIPELINE_PARALLEL_SIZE: String(group.stages ?? 1),
      LLMSERVICE_RANK_PORT: String(group.port),
      LWS_GROUP_SIZE: String(group.size),
      LWS_LEADER_ADDRESS: 'localhost',
      LWS_WORKER_INDEX: String(index),
    },
    ...changes,
  });
  pods.push(pod);
  return pod;
}

const pair = async (): Promise<Group> => ({ size: 2, tensor: 2, port: await freePort() });

const question = {
  model: 'demo',
  prompt: 'What is the capital of France?',
  temperature: 0,
  max_tokens: 32,
  ignore_eos: true,
  logprobs: 5,
};

async function answer(pod: ReplicaProcess): Promise<unknown> {
  const { choices } = (await (await pod.post('/v1/completions', question)).json()) as { choices: unknown };
  return choices;
}

/** Resolves with what a stream ended with, and when, once `begun` has been called after its first tokens. */
async function streamed(pod: ReplicaProcess, begun: () => void): Promise<{ last: string; at: number }> {
  const body = { ...question, max_tokens: 900, logprobs: null, stream: true };
  const response = await pod.post('/v1/completions', body);
  let text = '';
  let began = false;
  for await (const chunk of response.body!) {
    text += Buffer.from(chunk as Uint8Array).toString();
    if (!began && text.split('data: ').length > 5) begun();
    began ||= text.split('data: ').length > 5;
  }
  const events = text.split('\n\n').filter((event) => event.startsWith('data: {'));
  return { last: events.at(-1) ?? '', at: performance.now() };
}

test('two pods answer bit by bit as one does with the same ranks, and end together', async () => {
  const group = await pair();
  const alone = await startPod({ ...group, size: 1 }, 0);
  await alone.ready();
  const wanted = await answer(alone);
  await alone.stop();

  const worker = await startPod(group, 1);
  await worker.eventually('the worker to say whom it waits for', () =>
    Promise.resolve(worker.log.includes('node 0 of 2')),
  );
  const leader = await startPod(group, 0);
  await Promise.all([leader.ready(), worker.ready()]);
  expect(await answer(leader)).toEqual(wanted);

  expect((await fetch(`${worker.url}/v1/models`)).status).toBe(404);
  expect(await (await fetch(`${worker.url}/metrics`)).text()).toContain('process_cpu_seconds_total');
  leader.child.kill('SIGTERM');
  expect(await Promise.all([leader.exited(), worker.exited()])).toEqual([0, 0]);
});

describe('a pod that is lost', () => {
  test.each([
    ['ranks of one stage', { tensor: 2, stages: 1 }],
    ['a stage', { tensor: 1, stages: 2 }],
  ] as const)(
    'and has %s ends streams with a code, is named by the first one, and the next serves again',
    async (_, parts) => {
      const group = { ...(await pair()), ...parts };
      const [leader, worker] = [await startPod(group, 0), await startPod(group, 1)];
      await Promise.all([leader.ready(), worker.ready()]);
      let killed = 0;
      const { last, at } = await streamed(leader, () => {
        killed = performance.now();
        worker.child.kill('SIGKILL');
      });
      expect(last).toContain('EngineFault');
      process.stdout.write(
        `SIGKILL of the second pod: stream ended after ${(at - killed).toFixed(0)} ms: ${last}\n`,
      );
      const { state, failure } = await leader.health();
      expect(state).toBe('restarting');
      expect(failure).toMatchObject({
        reason: 'EngineFault',
        message: expect.stringMatching(/^Rank 1 of 2 on node 1 of 2 \(.*\) \(process \d+\) ended while /),
      });
      await leader.eventually('the first pod to say whom it waits for', async () =>
        JSON.stringify((await leader.health()).engine).includes('node 1 of 2'),
      );
      await (await startPod(group, 1)).ready();
      await leader.ready();
      expect(await answer(leader)).toHaveLength(1);
    },
  );

  test('that was the first ends the others, which say so', async () => {
    const group = await pair();
    const [leader, worker] = [await startPod(group, 0), await startPod(group, 1)];
    await Promise.all([leader.ready(), worker.ready()]);
    const killed = performance.now();
    process.kill(enginePids(leader.child.pid!)[0]!, 'SIGKILL');
    leader.child.kill('SIGKILL');
    expect(await worker.exited()).toBe(1);
    process.stdout.write(
      `SIGKILL of the first pod: the second ended after ${(performance.now() - killed).toFixed(0)} ms\n`,
    );
    expect(worker.terminationMessage).toMatchObject({
      reason: 'EngineFault',
      message: expect.stringMatching(/^Rank 0 of 2 on node 0 of 2 \(.*\) \(process \d+\) ended while/),
    });
  });
});

test('a pod that is configured otherwise is refused by the setting, and the group begins with its true one', async () => {
  const group = await pair();
  const [leader, other] = [await startPod(group, 0), await startPod(group, 1, { engine: { maxNumSeqs: 5 } })];
  const named = /maxNumSeqs is \d+ on node 0 of 2 .* and 5 on node 1/;
  expect(await other.exited()).toBe(1);
  expect(other.terminationMessage).toMatchObject({
    reason: 'ParallelismInvalid',
    message: expect.stringMatching(named),
  });
  await leader.eventually('the first pod to log whom it refused', () =>
    Promise.resolve(leader.log.includes('refused a caller at the rank port')),
  );
  const line = leader.log.split('\n').find((each) => each.includes('refused a caller')) ?? '';
  expect(JSON.parse(line)).toMatchObject({
    caller: expect.stringMatching(new RegExp(`^node 1 \\(.*\\) at .*:\\d+: .*${named.source}`)),
    refusals: 1,
  });
  await (await startPod(group, 1)).ready();
  await leader.ready();
});

test('a first pod whose others do not come ends with their names', async () => {
  const leader = await startPod(await pair(), 0, { noProgressTimeoutSeconds: 10 });
  expect(await leader.exited()).toBe(1);
  expect(leader.terminationMessage?.message).toContain('no connection came from node 1 of 2');
});
