// The engine process with the demo model, as the server has it: streams, cancels, shares and ends.

import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { cpuIsas } from '@llmservice/native';
import { createLogger } from 'winston';
import { readTokenizer } from '../../runtime/src/checkpoint/read-text-files.js';
import { EngineClient } from '../../runtime/src/engine/engine-client.js';
import type { EngineOutput, GenerateRequest } from '../../runtime/src/engine/protocol.js';
import { eventually } from '../processes.js';
import { generate, request } from './engine-requests.js';
import { engineSettings } from './engine-settings.js';
import { demoCheckpoint } from './replica-process.js';

jest.setTimeout(120_000);

const logger = createLogger({ silent: true });
const settings = engineSettings(demoCheckpoint, { memoryBytesPerDevice: 1024 ** 3 });

/** Sixteen prompts of different lengths, some sampled: what one gives must not depend on the others. */
function mixedRequests(): GenerateRequest[] {
  return Array.from({ length: 16 }, (_, i) => {
    const prompt = Array.from({ length: 1 + i * 9 }, (_, k) => (i * 131 + k * 17) % 2000);
    const plain = request(prompt);
    return i % 2 === 0
      ? plain
      : { ...plain, sampling: { ...plain.sampling, temperature: 0.9, topP: 0.95, seed: BigInt(i) } };
  });
}

test.each([
  ['auto', cpuIsas().at(-1)],
  ['float32', cpuIsas().findLast((isa) => isa !== 'avx512bf16' && isa !== 'amx')],
] as const)('exactness %s runs on %s', async (exactness, isa) => {
  const client = new EngineClient({ ...settings, exactness }, logger);
  await client.start();
  expect(client.health().state).toMatchObject({ kind: 'ready', info: { isa } });
  await client.stop();
});

test('a process that cannot be made is reported, and nothing waits for it', async () => {
  const limitFiles = (most: string): Buffer =>
    execFileSync('prlimit', [`--nofile=${most}:`, '--pid', String(process.pid)]);
  const before = execFileSync('prlimit', [
    '--nofile',
    '--output=SOFT',
    '--noheadings',
    '--pid',
    String(process.pid),
  ]);
  const client = new EngineClient(settings, logger);
  const files: number[] = [];
  limitFiles('1024');
  try {
    for (;;) files.push(openSync('/dev/null', 'r'));
  } catch {
    // None is left for the channel to the process.
  }
  const started = client.start();
  for (const file of files) closeSync(file);
  limitFiles(before.toString().trim());
  await started;
  expect(client.health().state).toMatchObject({
    kind: 'failed',
    failure: { reason: 'EngineFault', message: expect.stringContaining('EMFILE') as unknown },
  });
  await client.stop();
});

describe('EngineClient with a real engine process', () => {
  let client: EngineClient;
  beforeAll(async () => {
    client = new EngineClient(settings, logger);
    await client.start();
  });
  afterAll(() => client.stop());

  test('is ready with the figures of the model and of the plan', () => {
    expect(client.health()).toMatchObject({
      state: { kind: 'ready', maxModelLen: 512, info: { architecture: 'qwen3_5', hybrid: true } },
      restarts: 0,
    });
    expect(client.health().pid).not.toBe(process.pid);
  });

  test('answers a question of the demo model, ends at its stop token, and reports the time in the queue', async () => {
    const tokenizer = await readTokenizer(demoCheckpoint);
    const text =
      '<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n';
    const prompt = await tokenizer.encode(text, { addSpecialTokens: false });
    const end = tokenizer.tokenId('<|im_end|>')!;
    const ask = async (): Promise<EngineOutput[]> => {
      const outputs: EngineOutput[] = [];
      const asked = request(prompt, { stopTokens: Int32Array.of(end), maxTokens: 60 });
      for await (const output of client.submit(asked, { signal: new AbortController().signal }))
        outputs.push(output);
      return outputs;
    };
    // A reader who waits for a processor gets all that has come meanwhile as one.
    const outputs = await eventually('an answer in pieces', async () => {
      const pieces = await ask();
      return pieces.length > 1 ? pieces : null;
    });
    const answer = tokenizer.decode(
      outputs.flatMap(({ tokens }) => tokens),
      { skipSpecialTokens: false },
    );
    expect(answer).toContain('Paris');
    expect(outputs.at(-1)).toMatchObject({ finish: 'stop', stopToken: end });
    expect(outputs[0]!.queueMs).not.toBeNull();
  });

  test('gives logprobs with as many alternatives as asked for', async () => {
    const plain = request([1, 2, 3], { maxTokens: 3 });
    const asked = { ...plain, sampling: { ...plain.sampling, topLogprobs: 2 } };
    const { signal } = new AbortController();
    const logprobs = [];
    for await (const output of client.submit(asked, { signal })) logprobs.push(...(output.logprobs ?? []));
    expect(logprobs).toHaveLength(3);
    for (const { logprob, top } of logprobs) {
      expect(top).toHaveLength(2);
      expect(logprob).toBeCloseTo(top[0]!.logprob, 5);
    }
  });

  test('16 requests at once give exactly what each gives alone', async () => {
    const alone: number[][] = [];
    for (const each of mixedRequests()) alone.push((await generate(client, each)).tokens);
    const all = await Promise.all(mixedRequests().map((each) => generate(client, each)));
    const together = all.map(({ tokens }) => tokens);
    expect(together).toEqual(alone);
    expect(alone.every((tokens) => tokens.length === 24)).toBe(true);
  });

  test('a reader that leaves, and one that aborts, free their blocks', async () => {
    const endless = { maxTokens: 500 };
    const { signal } = new AbortController();
    for await (const output of client.submit(request([1, 2, 3], endless), { signal })) {
      if (output.tokens.length > 0) break;
    }
    const abort = new AbortController();
    for await (const output of client.submit(request([4, 5], endless), { signal: abort.signal })) {
      expect(output.finish).toBeNull();
      abort.abort();
    }
    await eventually('an idle engine', () => client.stats?.running === 0);
    expect(client.stats).toMatchObject({ waiting: 0, blocksUsed: 0 });
    expect(client.health().inFlight).toBe(0);
  });

  test('a request that can never run ends with an error, and disturbs no other', async () => {
    await expect(generate(client, request(new Int32Array(600)))).rejects.toThrow('600 tokens');
    expect((await generate(client, request([1]))).tokens).toHaveLength(24);
  });

  test('a request that may not wait gives up in the queue, typed, while one that may is served', async () => {
    const running = Array.from({ length: settings.maxNumSeqs }, (_, i) =>
      generate(client, request([i], { maxTokens: 450 })),
    );
    const late = request([1, 2, 3], { maxQueueMs: 1 });
    await expect(generate(client, late)).rejects.toMatchObject({ reason: 'QueueTimeout' });
    expect((await generate(client, request([1, 2, 3]))).tokens).toHaveLength(24);
    await Promise.all(running);
    await eventually('an idle engine', () => client.stats?.running === 0);
    expect(client.stats).toMatchObject({ waiting: 0, blocksUsed: 0 });
  });
});

test('stop ends the engine process', async () => {
  const client = new EngineClient(settings, logger);
  await client.start();
  const pid = client.health().pid!;
  await client.stop();
  await sleep(50);
  expect(() => process.kill(pid, 0)).toThrow();
  expect(client.health().state.kind).toBe('stopped');
});
