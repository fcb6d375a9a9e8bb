// The bridge: promises, errors with reasons, progress and disposal, on a golden model of a few hundred kilobytes.

import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import {
  finishCodes,
  greedy,
  type Admission,
  type Engine,
  type EngineOptions,
  type StepPlan,
} from './binding.js';
import { cpuIsas, loadEngine } from './engine.js';
import { plainOptions } from './engine-options.fixture.js';
import { emptyPlan } from './step-plan.fixture.js';

const modelDir = fileURLToPath(new URL('../../test/golden/models/llama-bf16', import.meta.url));
const options: EngineOptions = {
  ...plainOptions,
  modelDir,
  blockSize: 16,
  numBlocks: 8,
  maxNumSeqs: 2,
  numStateSnapshots: 0,
  maxModelLen: 64,
  maxNumBatchedTokens: 66,
  isa: 'portable',
};
const admission: Admission = {
  slot: 0,
  tokens: Int32Array.of(1, 2, 3),
  cachedTokens: 0,
  snapshot: null,
  promptLength: 3,
  maxLength: 10,
  stopTokens: new Int32Array(),
  sampling: greedy,
  promptLogprobs: false,
  pooling: 'none',
  constraint: null,
  rules: null,
  adapter: 0,
};
const first: StepPlan = {
  ...emptyPlan,
  admit: [admission],
  blocks: Int32Array.of(0, 0),
  rows: Int32Array.of(0, 3),
};
const next: StepPlan = { ...emptyPlan, rows: Int32Array.of(0, 1) };

test('the machine can always run portable code', () => {
  expect(cpuIsas()[0]).toBe('portable');
});

test('progress ends at the total', async () => {
  const seen: [number, number][] = [];
  const engine = await loadEngine(options, (done, total) => seen.push([done, total]));
  await engine.dispose();
  const [done, total] = seen.at(-1)!;
  expect(done).toBe(total);
  expect(total).toBeGreaterThan(500_000);
});

test.each([
  ['a folder without config.json', { modelDir: '/nowhere' }, 'CheckpointIncomplete'],
  ['a block size that does not divide 64', { blockSize: 24 }, 'InvalidEngineConfig'],
  ['a method without tokens', { speculative: { method: 'ngram', tokens: 0 } }, 'InvalidEngineConfig'],
  [
    'a layer that the checkpoint lacks',
    { speculative: { method: 'mtp', tokens: 1 }, maxNumBatchedTokens: 68 },
    'InvalidEngineConfig',
  ],
  ['too few rows per step', { maxNumBatchedTokens: 65 }, 'InvalidEngineConfig'],
] as const)('loading with %s fails with its reason', async (_, changes, reason) => {
  await expect(loadEngine({ ...options, ...changes }, () => undefined)).rejects.toMatchObject({ reason });
});

describe('a loaded engine', () => {
  let engine: Engine;
  beforeEach(async () => {
    engine = await loadEngine(options, () => undefined);
  });
  afterEach(() => engine.dispose());

  test('says what it is', () => {
    expect(engine.info).toMatchObject({
      numBlocks: 8,
      architecture: 'llama',
      isa: 'portable',
      threads: 1,
      vocabSize: 320,
      hybrid: false,
      bidirectional: false,
      collectives: null,
      selfCheckMs: expect.any(Number),
    });
    expect(engine.info.weightBytes).toBeGreaterThan(500_000);
  });

  test('runs steps in the order in which they were asked for', async () => {
    const results = await Promise.all([engine.step(first), engine.step(next)]);
    expect(results.map(({ slots }) => [...slots])).toEqual([[0], [0]]);
    expect(results[0].logprobs[0]).toBeNaN();
    expect([...results[0].topOffsets]).toEqual([0, 0]);
  });

  test('lets one step wait behind the one that runs, and no more', async () => {
    const steps = [engine.step(first), engine.step(next)];
    await expect(engine.step(next)).rejects.toMatchObject({ reason: 'EngineFault' });
    await Promise.all(steps);
    await expect(engine.step(next)).resolves.toMatchObject({ slots: Int32Array.of(0) });
  });

  test('takes back a step that has not begun, as if it had never been asked for', async () => {
    // Long enough that the other does not begin meanwhile.
    const long = { ...admission, tokens: new Int32Array(60).fill(1), promptLength: 60, maxLength: 64 };
    const runs = engine.step({
      ...emptyPlan,
      admit: [long],
      blocks: Int32Array.of(0, 0, 0, 1, 0, 2, 0, 3),
      rows: Int32Array.of(0, 60),
    });
    const waits = engine.step({ ...emptyPlan, release: Int32Array.of(0) });
    const outcome = expect(waits).rejects.toThrow('withdrawn');
    expect(engine.withdraw()).toBe(true);
    await outcome;
    await runs;
    expect(engine.withdraw()).toBe(false);
    await expect(engine.step(next)).resolves.toMatchObject({ slots: Int32Array.of(0) });
  });

  test('leaves rows of a sequence that has ended out of a plan made ahead, and only there', async () => {
    const ending = { ...first, admit: [{ ...admission, maxLength: 4 }] };
    const steps = [engine.step(ending), engine.step({ ...next, ahead: true })];
    const [end, ahead] = await Promise.all(steps);
    expect([...end!.finish]).toEqual([finishCodes.length]);
    expect([...ahead!.slots]).toEqual([]);
    expect([end!.rows, ahead!.rows]).toEqual([3, 0]);
    await expect(engine.step(next)).rejects.toThrow('has ended');
  });

  test('refuses a plan that breaks a rule, and continues', async () => {
    await expect(engine.step(next)).rejects.toMatchObject({ reason: 'EngineFault' });
    await expect(engine.step(first)).resolves.toMatchObject({ slots: Int32Array.of(0) });
  });

  test.each([
    ['has the wrong type', { tokens: [1, 2] }, 'plan.admit[0].tokens must be an Int32Array.'],
    ['is missing', { sampling: { ...greedy, minP: undefined } }, 'plan.admit[0].sampling.minP is missing.'],
    ['is not declared', { sampling: { ...greedy, topA: 1 } }, 'plan.admit[0].sampling has no field topA.'],
    [
      'has another value',
      { pooling: 'first' },
      "plan.admit[0].pooling must be one of 'none', 'last', 'mean', 'cls'.",
    ],
  ])('names the field of a plan that %s', async (_, changes, message) => {
    const wrong = { ...emptyPlan, admit: [{ ...admission, ...changes }] } as unknown as StepPlan;
    await expect(engine.step(wrong)).rejects.toThrow(message);
  });

  test('is disposed once, after the steps in flight, and refuses steps from then on', async () => {
    const step = engine.step(first);
    const disposals = [engine.dispose(), engine.dispose()];
    const late = engine.step(next);
    await expect(late).rejects.toMatchObject({ reason: 'EngineFault' });
    await expect(step).resolves.toMatchObject({ slots: Int32Array.of(0) });
    await Promise.all(disposals);
  });
});
