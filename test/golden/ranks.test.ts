// The engine on several tensor-parallel ranks: against transformers, against one rank, and against itself.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Engine } from '@llmservice/native';
import { cpuIsas } from '@llmservice/native';

import type { Job } from './engine-driver.js';
import { greedy, loadGolden, loadGoldenRanks, run, score } from './engine-driver.js';

jest.setTimeout(120_000);

interface Golden {
  readonly greedy: readonly { prompt: number[]; tokens: number[]; margins: number[]; logprobs: number[] }[];
  readonly teacherForced: { ids: number[]; argmax: number[]; margins: number[]; logprobs: number[] };
}

const isa = cpuIsas().at(-1) as 'portable' | 'avx512';
/** Allowed difference of a logprob from the reference, and where tokens are closer than this the choice is free. */
const allowed = { bfloat16: 0.08, float32: 0.02 };

function job(slot: number, prompt: readonly number[], changes: Partial<Job> = {}): Job {
  return { slot, prompt, generated: [], count: 32, sampling: greedy, joinsAt: 0, chunk: 512, ...changes };
}

describe.each([
  ['llama-bf16', 2],
  ['qwen3-bf16', 2],
  ['qwen3-bf16', 4],
  ['qwen3_5-bf16', 2],
  ['qwen3_5_text-fp8-ranks', 2],
  ['qwen3_5_text-fp8-ranks', 4],
] as const)('%s on %i ranks', (model, ranks) => {
  const modelDir = fileURLToPath(new URL(`models/${model}`, import.meta.url));
  const golden = JSON.parse(readFileSync(`${modelDir}/golden.json`, 'utf8')) as Golden;

  describe.each(['float32', 'bfloat16'] as const)('in %s', (dtype) => {
    const bar = allowed[dtype];
    let engine: Engine;
    beforeAll(async () => {
      engine = await loadGoldenRanks(modelDir, { isa, dtype, threads: 1 }, ranks);
    });
    afterAll(() => engine.dispose());

    test('greedy tokens and their logprobs are the reference’s, up to the first close call', async () => {
      let compared = 0;
      for (const wanted of golden.greedy) {
        const [got] = await run(engine, [job(0, wanted.prompt)]);
        const close = wanted.margins.findIndex((margin) => margin < bar);
        const steps = close === -1 ? wanted.tokens.length : close;
        expect(got!.tokens.slice(0, steps)).toEqual(wanted.tokens.slice(0, steps));
        expect(furthest(got!.logprobs, wanted.logprobs.slice(0, steps))).toBeLessThan(bar);
        compared += steps;
      }
      expect(compared).toBeGreaterThan(dtype === 'float32' ? 100 : 15);
    });

    test('256 teacher-forced positions have the reference’s logprobs, and those of one rank', async () => {
      const { ids, argmax, margins, logprobs } = golden.teacherForced;
      const got = await score(engine, ids, 512);
      expect(got.logprobs).toHaveLength(256);
      expect(furthest(got.logprobs, logprobs)).toBeLessThan(bar);
      const clear = (_: number, i: number) => margins[i]! >= bar;
      expect(got.best.filter(clear)).toEqual(argmax.filter(clear));
      const alone = await loadGolden(modelDir, { isa, dtype, threads: 1 });
      try {
        expect(furthest(got.logprobs, (await score(alone, ids, 512)).logprobs)).toBeLessThan(bar);
      } finally {
        await alone.dispose();
      }
    });

    test('the split of a prompt into chunks does not change a bit', async () => {
      const { ids } = golden.teacherForced;
      expect(await score(engine, ids, 64)).toEqual(await score(engine, ids, 512));
    });

    test('16 sequences that run together give exactly what each gives alone', async () => {
      const jobs = manyJobs(golden);
      const alone = [];
      for (const single of jobs) alone.push(...(await run(engine, [{ ...single, slot: 0, joinsAt: 0 }])));
      expect(await run(engine, jobs)).toEqual(alone);
      expect(new Set(alone.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(12);
    });
  });
});

test.each([
  ['8 ranks for 6 heads', 'llama-bf16', 8, 'num_attention_heads (6)'],
  ['2 ranks that would cut an FP8 block', 'llama-fp8', 2, 'cuts a group of 128 that share a scale'],
])('%s are refused, saying what cannot be divided', async (_, model, ranks, told) => {
  const modelDir = fileURLToPath(new URL(`models/${model}`, import.meta.url));
  await expect(loadGoldenRanks(modelDir, { isa, dtype: 'auto', threads: 1 }, ranks)).rejects.toMatchObject({
    reason: 'ParallelismInvalid',
    message: expect.stringContaining(told),
  });
});

/** 16 sequences of differing lengths and samplings that join at differing steps. */
function manyJobs(golden: Golden): Job[] {
  return Array.from({ length: 16 }, (_, i) => {
    const length = [1, 7, 63, 64, 65, 100, 129, 200][i % 8]!;
    const prompt = golden.teacherForced.ids.slice(i, i + length);
    const sampling = i % 2 === 0 ? greedy : { ...greedy, temperature: 0.8, topP: 0.95, seed: BigInt(i) };
    return job(i, prompt, { count: 6 + (i % 7), sampling, joinsAt: Math.floor(i / 3), chunk: 64 });
  });
}

/** The largest difference between the first values of `got` and all of `wanted`. */
function furthest(got: readonly number[], wanted: readonly number[]): number {
  return Math.max(0, ...wanted.map((value, i) => Math.abs(value - got[i]!)));
}
