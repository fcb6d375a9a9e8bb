// What every engine that runs a golden model is held to, on one rank or several: transformers' numbers up to the
// first close call, and batches that change no bit.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect } from '@jest/globals';
import type { Engine } from '@llmservice/native';

import type { Job, Scores } from './engine-driver.js';
import { greedy, run, score } from './engine-driver.js';

/** golden.json of a model, as generate/ writes it. */
export interface Golden {
  readonly greedy: readonly {
    readonly prompt: number[];
    readonly tokens: number[];
    readonly margins: number[];
    readonly logprobs: number[];
  }[];
  readonly teacherForced: {
    readonly ids: number[];
    readonly argmax: number[];
    readonly margins: number[];
    readonly logprobs: number[];
  };
}

export const modelsDir = fileURLToPath(new URL('models/', import.meta.url));

/** Allowed difference of a logprob; where the best two tokens are closer than this, the choice is free. */
export const tolerance = { bfloat16: 0.08, float32: 0.02 };

export function readGolden(model: string): Golden {
  return JSON.parse(readFileSync(`${modelsDir}${model}/golden.json`, 'utf8')) as Golden;
}

export function job(slot: number, prompt: readonly number[], changes: Partial<Job> = {}): Job {
  return { slot, prompt, generated: [], count: 32, sampling: greedy, joinsAt: 0, chunk: 512, ...changes };
}

/** Greedy tokens and their logprobs are the reference's, up to the first close call. */
export async function expectGreedyOfReference(
  engine: Engine,
  golden: Golden,
  dtype: 'bfloat16' | 'float32',
): Promise<void> {
  const allowed = tolerance[dtype];
  let compared = 0;
  for (const wanted of golden.greedy) {
    const [got] = await run(engine, [job(0, wanted.prompt)]);
    const close = wanted.margins.findIndex((margin) => margin < allowed);
    const steps = close === -1 ? wanted.tokens.length : close;
    expect(got!.tokens.slice(0, steps)).toEqual(wanted.tokens.slice(0, steps));
    expect(furthest(got!.logprobs, wanted.logprobs.slice(0, steps))).toBeLessThan(allowed);
    compared += steps;
  }
  expect(compared).toBeGreaterThan(dtype === 'float32' ? 100 : 15);
}

/** Whether the model comes with a layer for multi-token prediction. */
export function hasMtp(model: string): boolean {
  return readdirSync(modelsDir + model)
    .filter((file) => file.endsWith('.safetensors'))
    .some((file) => readFileSync(`${modelsDir}${model}/${file}`).includes('"mtp.fc.weight"'));
}

/** 256 teacher-forced positions have the reference's logprobs and, where that is clear, its most likely tokens. */
export async function expectScoresOfReference(
  engine: Engine,
  { teacherForced: { ids, argmax, margins, logprobs } }: Golden,
  allowed: number,
): Promise<Scores> {
  const got = await score(engine, ids, 512);
  expect(got.logprobs).toHaveLength(256);
  expect(furthest(got.logprobs, logprobs)).toBeLessThan(allowed);
  const clear = (_: number, i: number): boolean => margins[i]! >= allowed;
  expect(got.best.filter(clear)).toEqual(argmax.filter(clear));
  return got;
}

/** 16 sequences of differing lengths and samplings that join at differing steps give exactly what each gives alone. */
export async function expectTogetherAsAlone(engine: Engine, golden: Golden): Promise<void> {
  const jobs = Array.from({ length: 16 }, (_, i) => {
    const length = [1, 7, 63, 64, 65, 100, 129, 200][i % 8]!;
    const prompt = golden.teacherForced.ids.slice(i, i + length);
    const sampling = i % 2 === 0 ? greedy : { ...greedy, temperature: 0.8, topP: 0.95, seed: BigInt(i) };
    return job(i, prompt, { count: 6 + (i % 7), sampling, joinsAt: Math.floor(i / 3), chunk: 64 });
  });
  const alone = [];
  for (const single of jobs) alone.push(...(await run(engine, [{ ...single, slot: 0, joinsAt: 0 }])));
  expect(await run(engine, jobs)).toEqual(alone);
  expect(new Set(alone.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(12);
}

/** The largest difference between the first values of `got` and all of `wanted`. */
export function furthest(got: readonly number[], wanted: readonly number[]): number {
  return Math.max(0, ...wanted.map((value, i) => Math.abs(value - got[i]!)));
}
