// The engine process with the demo model, as the server has it: streams, cancels, shares, and is killed.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Failure } from '@llmservice/crds';
import { createLogger, transports } from 'winston';
import { readTokenizer } from '../../runtime/src/checkpoint/read-text-files.js';
import { EngineClient, type EngineLimits } from '../../runtime/src/engine/engine-client.js';
import type { EngineState } from '../../runtime/src/engine/engine-state.js';
import type { EngineOutput, EngineSettings, GenerateRequest } from '../../runtime/src/engine/protocol.js';
import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';
import { eventually } from '../processes.js';
import { engineSettings } from './engine-settings.js';
import { demoCheckpoint } from './replica-process.js';

jest.setTimeout(60_000);

const logger = createLogger({ silent: true });
const settings = engineSettings(demoCheckpoint, { memoryBytesPerDevice: 1024 ** 3 });

let requests = 0;
function request(prompt: ArrayLike<number>, changes: Partial<GenerateRequest> = {}): GenerateRequest {
  return generateRequest(`request-${requests++}`, prompt, { maxTokens: 24, ...changes });
}

/** Runs a request to its end. */
function generate(
  client: EngineClient,
  asked: GenerateRequest,
): Promise<{ tokens: number[]; last: EngineOutput }> {
  return collect(client.submit(asked, { signal: new AbortController().signal }));
}

async function collect(
  outputs: AsyncIterable<EngineOutput>,
): Promise<{ tokens: number[]; last: EngineOutput }> {
  const tokens: number[] = [];
  let last: EngineOutput | null = null;
  for await (const output of outputs) {
    tokens.push(...output.tokens);
    last = output;
  }
  return { tokens, last: last! };
}

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

  test('answers a question of the demo model, ends at its stop token, and tells the time in the queue', async () => {
    const tokenizer = await readTokenizer(demoCheckpoint);
    const text =
      '<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n';
    const prompt = await tokenizer.encode(text, { addSpecialTokens: false });
    const end = tokenizer.tokenId('<|im_end|>')!;
    const outputs: EngineOutput[] = [];
    const asked = request(prompt, { stopTokens: Int32Array.of(end), maxTokens: 60 });
    for await (const output of client.submit(asked, { signal: new AbortController().signal }))
      outputs.push(output);
    const answer = tokenizer.decode(
      outputs.flatMap(({ tokens }) => tokens),
      { skipSpecialTokens: false },
    );
    expect(answer).toContain('Paris');
    expect(outputs.at(-1)).toMatchObject({ finish: 'stop', stopToken: end });
    expect(outputs[0]!.queueMs).not.toBeNull();
    expect(outputs.length).toBeGreaterThan(1);
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
      generate(client, request([i], { maxTokens: 100 })),
    );
    const late = request([1, 2, 3], { maxQueueMs: 1 });
    await expect(generate(client, late)).rejects.toMatchObject({ reason: 'QueueTimeout' });
    expect((await generate(client, request([1, 2, 3]))).tokens).toHaveLength(24);
    await Promise.all(running);
    expect(client.stats).toMatchObject({ waiting: 0, blocksUsed: 0 });
  });

  test('a killed engine ends its requests with EngineFault; the next is answered within 5 s', async () => {
    const { signal } = new AbortController();
    const outputs = client.submit(request([1, 2, 3], { maxTokens: 500 }), { signal });
    expect((await outputs.next()).done).toBe(false);
    process.kill(client.health().pid!, 'SIGKILL');
    await expect(collect(outputs)).rejects.toMatchObject({ reason: 'EngineFault' });
    expect(client.health().state.kind).toBe('restarting');
    const before = performance.now();
    const { tokens } = await generate(client, request([1, 2, 3]));
    expect(tokens).toHaveLength(24);
    expect(performance.now() - before).toBeLessThan(5000);
    expect(client.health()).toMatchObject({ state: { kind: 'ready' }, restarts: 1 });
  });
});

describe('EngineClient whose engine misbehaves', () => {
  let client: EngineClient | null = null;
  const limits = {
    heartbeat: 30_000,
    firstHeartbeat: 30_000,
    step: 600_000,
    shutdown: 5_000,
    backOff: 2_000,
    healthy: 60_000,
  };
  afterEach(() => client?.stop());

  async function start(changes: Partial<EngineLimits>, told = logger): Promise<EngineClient> {
    client = new EngineClient(settings, told, { ...limits, ...changes });
    await client.start();
    return client;
  }

  test('one that stands still is killed, its request told why, and the next one answered', async () => {
    const sick = await start({ heartbeat: 4_000 });
    const { signal } = new AbortController();
    const outputs = sick.submit(request([1, 2, 3], { maxTokens: 500 }), { signal });
    expect((await outputs.next()).done).toBe(false);
    const pid = sick.health().pid!;
    process.kill(pid, 'SIGSTOP');
    await expect(collect(outputs)).rejects.toMatchObject({
      reason: 'EngineFault',
      message: expect.stringContaining('no sign of life'),
    });
    expect(() => process.kill(pid, 0)).toThrow();
    await eventually('a new engine', () => sick.health().state.kind === 'ready');
    expect((await generate(sick, request([1], { maxTokens: 1 }))).tokens).toHaveLength(1);
  });

  test('one lost again and again is started again at once, then after longer and longer waits', async () => {
    const delays: number[] = [];
    const stream = new Writable({
      objectMode: true,
      write: (entry: { delayMs?: number }, _, done) => {
        if (entry.delayMs !== undefined) delays.push(entry.delayMs);
        done();
      },
    });
    const unlucky = await start({}, createLogger({ transports: [new transports.Stream({ stream })] }));
    for (let losses = 1; losses <= 4; losses++) {
      process.kill(unlucky.health().pid!, 'SIGKILL');
      await eventually('a new engine', () => {
        const { restarts, state } = unlucky.health();
        return restarts === losses && state.kind === 'ready';
      });
    }
    expect(delays).toEqual([0, 1000, 2000, 2000]);
  });
});

describe('EngineClient that cannot load', () => {
  async function failureOf(changes: Partial<EngineSettings>): Promise<Failure> {
    const client = new EngineClient({ ...settings, memoryUtilizationPercent: 100, ...changes }, logger);
    await client.start();
    const { state, pid } = client.health();
    await client.stop();
    expect({ kind: state.kind, pid }).toEqual({ kind: 'failed', pid: null });
    return (state as Extract<EngineState, { kind: 'failed' }>).failure;
  }

  test('says how much memory is needed, and with a little more the largest context that fits', async () => {
    const changes = { maxNumSeqs: 1, maxModelLen: 4096 };
    const tooLarge = await failureOf({ ...changes, memoryBytesPerDevice: 2 ** 20 });
    expect(tooLarge.reason).toBe('ModelTooLarge');
    const memoryBytesPerDevice = Number(tooLarge.detail!['needed']) + 2 ** 20;
    const tooLong = await failureOf({ ...changes, memoryBytesPerDevice });
    expect(tooLong.reason).toBe('KvCacheTooSmall');
    expect(tooLong.detail!['fits']).toBeGreaterThanOrEqual(512);
    expect(tooLong.detail!['fits']).toBeLessThan(4096);
  });

  test('names the file that a folder lacks', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'llmservice-empty-'));
    try {
      const failure = await failureOf({ modelDir: empty });
      expect(failure).toMatchObject({ reason: 'CheckpointIncomplete' });
      expect(failure.message).toContain('config.json');
    } finally {
      rmSync(empty, { recursive: true });
    }
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
