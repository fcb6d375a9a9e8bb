// Plans of a warm-up, and how it is run, on an engine that keeps what it is asked for.

import type { StepPlan, StepResult } from '@llmservice/native';
import { expect, test } from '@jest/globals';
import { warmupPlans } from './warmup-plans.js';
import { roomy } from './warmup-limits.fixture.js';
import { warmUp } from './warm-up.js';
import type { WarmupShape } from './warmup-shapes.js';

const prompt = { kind: 'prompt', batch: 1, rows: 100, context: 128 } as const;
const decode: WarmupShape = { kind: 'decode', batch: 2, drafts: 3, accepted: 2, context: 64 };

test('a prompt begins in the step that admits it', () => {
  const [begin, end, ...more] = warmupPlans(prompt, roomy);
  expect(more).toEqual([]);
  expect(begin).toMatchObject({
    admit: [{ slot: 0, cachedTokens: 128, promptLength: 228, snapshot: null }],
    rows: Int32Array.of(0, 100),
    warmup: { acceptedDrafts: 0 },
  });
  // Two blocks that nobody computed, two of its own.
  expect(begin?.blocks).toEqual(Int32Array.of(0, 4095, 0, 4095, 0, 0, 0, 1));
  expect(end?.release).toEqual(Int32Array.of(0));
});

test('several prompts begin in one step', () => {
  const [begin, end] = warmupPlans({ ...prompt, batch: 2, rows: 64, context: 0 }, roomy);
  expect(begin?.admit.map(({ slot, promptLength }) => [slot, promptLength])).toEqual([
    [0, 64],
    [1, 64],
  ]);
  expect(begin?.blocks).toEqual(Int32Array.of(0, 0, 1, 1));
  expect(begin?.rows).toEqual(Int32Array.of(0, 64, 1, 64));
  expect(end?.release).toEqual(Int32Array.of(0, 1));
});

test('decodes are steps of their own, by the rows of all drafts', () => {
  const [begin, first, second, third, end, ...more] = warmupPlans(decode, roomy);
  expect(more).toEqual([]);
  expect(begin?.rows).toEqual(new Int32Array());
  expect(
    begin?.admit.map(({ cachedTokens, tokens, promptLength }) => [cachedTokens, tokens.length, promptLength]),
  ).toEqual([
    [64, 65, 64],
    [0, 1, 1],
  ]);
  expect(begin?.blocks).toEqual(Int32Array.of(0, 4095, 0, 0, 1, 1));
  for (const step of [first, second, third])
    expect(step).toMatchObject({
      rows: Int32Array.of(0, 4, 1, 4),
      drafts: 3,
      warmup: { acceptedDrafts: 2 },
    });
  expect(end?.release).toEqual(Int32Array.of(0, 1));
});

/** Each step takes a second. */
class SlowEngine {
  seconds = 0;
  readonly plans: StepPlan[] = [];
  failure: Error | null = null;

  step(plan: StepPlan): Promise<StepResult> {
    this.plans.push(plan);
    this.seconds++;
    return this.failure === null ? Promise.resolve({} as StepResult) : Promise.reject(this.failure);
  }
}

async function run(
  engine: SlowEngine,
  timeLimitSeconds: number,
): Promise<{ progress: string[]; report: unknown }> {
  const progress: string[] = [];
  const report = await warmUp(engine, [prompt, decode, { ...prompt, rows: 64 }], roomy, {
    timeLimitSeconds,
    now: () => engine.seconds * 1000,
    onProgress: (done, total) => progress.push(`${String(done)}/${String(total)}`),
  });
  return { progress, report };
}

test('all shapes run, and each is reported before it begins', async () => {
  const engine = new SlowEngine();
  expect(await run(engine, 60)).toEqual({
    progress: ['0/3', '1/3', '2/3', '3/3'],
    report: { ran: 3, leftOut: [], seconds: 9 },
  });
});

test('at the time limit the rest is left out by name, but never the first', async () => {
  expect(await run(new SlowEngine(), 3)).toMatchObject({
    report: { ran: 2, leftOut: ['prompt of 64 behind 128'] },
  });
  expect(await run(new SlowEngine(), 1)).toMatchObject({ report: { ran: 1 } });
});

test('a step without memory is a model that is too large, with what would help', async () => {
  const engine = new SlowEngine();
  engine.failure = Object.assign(new Error('The device failed to run attention: out of memory.'), {
    reason: 'DeviceOutOfMemory',
  });
  await expect(run(engine, 60)).rejects.toMatchObject({
    failure: {
      reason: 'ModelTooLarge',
      message: expect.stringMatching(/prompt of 100 behind 128.*maxNumBatchedTokens.*maxModelLen/) as unknown,
    },
  });
  engine.failure = Object.assign(new Error('lost'), { reason: 'DeviceFault' });
  await expect(run(engine, 60)).rejects.toThrow('lost');
});
