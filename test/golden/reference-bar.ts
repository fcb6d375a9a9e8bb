// What every engine that runs a golden model must match, on one rank or several, on the CPU or a device: transformers'
// numbers up to the first close call, and batches that change no bit. By Node's own assertions: programs for devices
// without Jest hold engines to the same.

import assert from 'node:assert/strict';
import type { Engine } from '@llmservice/native';

import type { Generated, Job, Scores } from './engine-driver.js';
import { greedy, run, score } from './engine-driver.js';
import { allowedOff, type Bar, clearSteps, furthest, type Golden } from './golden-values.js';

export { furthest, hasMtp, modelsDir, readGolden, tolerance } from './golden-values.js';

export function job(slot: number, prompt: readonly number[], changes: Partial<Job> = {}): Job {
  return { slot, prompt, generated: [], count: 32, sampling: greedy, joinsAt: 0, chunk: 512, ...changes };
}

/** Greedy tokens and their logprobs are the reference's, up to the first close call. */
export async function expectGreedyOfReference(engine: Engine, golden: Golden, bar: Bar): Promise<void> {
  expectGreedy(await continuations(engine, golden), golden, bar);
}

/** The engine's greedy continuation of each prompt. */
export async function continuations(engine: Engine, golden: Golden, adapter = 0): Promise<Generated[]> {
  const all: Generated[] = [];
  for (const { prompt } of golden.greedy) all.push(...(await run(engine, [job(0, prompt, { adapter })])));
  return all;
}

export function expectGreedy(got: readonly Generated[], golden: Golden, bar: Bar): void {
  let compared = 0;
  golden.greedy.forEach((wanted, i) => {
    const steps = clearSteps(wanted, bar.close);
    assert.deepEqual(got[i]!.tokens.slice(0, steps), wanted.tokens.slice(0, steps));
    assertNear(got[i]!.logprobs, wanted.logprobs.slice(0, steps), bar.allowed);
    compared += steps;
  });
  const enough = bar.clearSteps;
  assert.ok(compared >= enough, `${compared} clear steps say little: ${enough} or more are wanted`);
}

/** 256 teacher-forced positions have the reference's logprobs and, where that is clear, its most likely tokens. */
export async function expectScoresOfReference(engine: Engine, golden: Golden, bar: Bar): Promise<Scores> {
  const got = await score(engine, golden.teacherForced.ids, 512);
  expectScores(got, golden, bar);
  return got;
}

export function expectScores(
  got: Scores,
  { teacherForced }: Golden,
  { allowed, allowedMean, close }: Bar,
): void {
  const { argmax, margins, logprobs, inFloat32 } = teacherForced;
  assert.equal(got.logprobs.length, 256);
  assertNear(got.logprobs, logprobs, allowedOff(teacherForced, allowed), inFloat32);
  const off = logprobs.reduce((sum, wanted, i) => sum + Math.abs(wanted - got.logprobs[i]!), 0) / 256;
  assert.ok(off < allowedMean, `logprobs are ${off} off on average; allowed are ${allowedMean}`);
  const clear = (_: number, i: number): boolean => margins[i]! >= close;
  assert.deepEqual(got.best.filter(clear), argmax.filter(clear));
}

function assertNear(
  got: readonly number[],
  wanted: readonly number[],
  allowed: number,
  other?: readonly number[],
): void {
  const difference = furthest(got, wanted, other);
  assert.ok(difference < allowed, `a logprob is ${difference} from the reference's; allowed are ${allowed}`);
}

/**
 * 16 sequences of differing lengths and samplings that join at differing steps give exactly what each gives alone. `adapter`: of
 * two thirds of them.
 */
export async function expectTogetherAsAlone(engine: Engine, golden: Golden, adapter = 0): Promise<void> {
  const jobs = Array.from({ length: 16 }, (_, i) => {
    const length = [1, 7, 63, 64, 65, 100, 129, 200][i % 8]!;
    const prompt = golden.teacherForced.ids.slice(i, i + length);
    const sampling = i % 2 === 0 ? greedy : { ...greedy, temperature: 0.8, topP: 0.95, seed: BigInt(i) };
    return job(i, prompt, {
      count: 6 + (i % 7),
      sampling,
      joinsAt: Math.floor(i / 3),
      chunk: 64,
      adapter: i % 3 === 0 ? 0 : adapter,
    });
  });
  const alone = [];
  for (const single of jobs) alone.push(...(await run(engine, [{ ...single, slot: 0, joinsAt: 0 }])));
  assert.deepEqual(await run(engine, jobs), alone);
  assert.ok(new Set(alone.map(({ tokens }) => tokens.join())).size > 12, 'most sequences say the same');
}
