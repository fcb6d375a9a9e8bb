// The engine against transformers, on random-weight models of every architecture and format; and against itself:
// how steps are cut, who runs beside a sequence and preemption must not change a single bit.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Engine, EngineOptions } from '@llmservice/native';
import { cpuIsas } from '@llmservice/native';

import type { Job } from './engine-driver.js';
import { greedy, loadGolden, run, score } from './engine-driver.js';

// Seconds on an idle machine; minutes where other tests share its cores.
jest.setTimeout(120_000);

interface Golden {
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

const modelsDir = fileURLToPath(new URL('models/', import.meta.url));
const models = readdirSync(modelsDir);
const machines = cpuIsas().flatMap((isa) =>
  (['float32', 'bfloat16'] as const).map((dtype) => ({ isa, dtype }) as Pick<EngineOptions, 'isa' | 'dtype'>),
);
/** Allowed difference of a logprob; where the best two tokens are closer than this, the choice is free. */
const tolerance = { auto: 0.08, bfloat16: 0.08, float32: 0.02 };

function read(model: string): Golden {
  return JSON.parse(readFileSync(`${modelsDir}${model}/golden.json`, 'utf8')) as Golden;
}

function job(slot: number, prompt: readonly number[], changes: Partial<Job> = {}): Job {
  return { slot, prompt, generated: [], count: 32, sampling: greedy, joinsAt: 0, chunk: 512, ...changes };
}

test('a model of every architecture and format is there', () => {
  expect(models).toEqual([
    'llama-bf16',
    'llama-f16',
    'llama-fp8',
    'llama-fp8-tensor',
    'llama-nvfp4-modelopt',
    'qwen3-bf16',
    'qwen3-fp8',
    'qwen3-nvfp4',
    'qwen3-window-bf16',
    'qwen3-yarn-bf16',
    'qwen3_5-bf16',
    'qwen3_5-fp8',
    'qwen3_5_moe-bf16',
    'qwen3_5_moe_text-fp8',
    'qwen3_5_text-fp8',
    'qwen3_5_text-fp8-channel',
    'qwen3_5_text-fp8-ranks',
    'qwen3_moe-bf16',
    'qwen3_moe-fp8',
    'qwen3_next-bf16',
    'qwen3_next-fp8',
  ]);
});

describe.each(machines)('on $isa in $dtype', ({ isa, dtype }) => {
  const allowed = tolerance[dtype];

  describe.each(models)('%s', (model) => {
    const golden = read(model);
    let engine: Engine;
    beforeAll(async () => {
      engine = await loadGolden(modelsDir + model, { isa, dtype, threads: 1 });
    });
    afterAll(() => engine.dispose());

    test('greedy tokens and their logprobs are the reference’s, up to the first close call', async () => {
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
    });

    test('256 teacher-forced positions have the reference’s logprobs and most likely tokens', async () => {
      const { ids, argmax, margins, logprobs } = golden.teacherForced;
      const got = await score(engine, ids, 512);
      expect(got.logprobs).toHaveLength(256);
      expect(furthest(got.logprobs, logprobs)).toBeLessThan(allowed);
      const clear = (_: number, i: number) => margins[i]! >= allowed;
      expect(got.best.filter(clear)).toEqual(argmax.filter(clear));
      expect(margins.filter((margin) => margin >= allowed).length).toBeGreaterThan(150);
    });

    test('the split of a prompt into chunks does not change a bit', async () => {
      const whole = await score(engine, golden.teacherForced.ids, 512);
      for (const chunk of [64, 128]) expect(await score(engine, golden.teacherForced.ids, chunk)).toEqual(whole);
      for (const { prompt } of golden.greedy.filter(({ prompt }) => prompt.length > 64)) {
        const [once] = await run(engine, [job(0, prompt, { count: 8 })]);
        expect(await run(engine, [job(0, prompt, { count: 8, chunk: 64 })])).toEqual([once]);
      }
    });

    test('16 sequences that run together give exactly what each gives alone', async () => {
      const jobs = manyJobs(golden);
      const alone = [];
      for (const single of jobs) alone.push(...(await run(engine, [{ ...single, slot: 0, joinsAt: 0 }])));
      expect(await run(engine, jobs)).toEqual(alone);
      expect(new Set(alone.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(12);
    });

    test('a preempted sequence goes on as if nothing had happened', async () => {
      for (const { prompt } of golden.greedy.filter(({ prompt }) => [5, 63, 129].includes(prompt.length))) {
        const sampling = { ...greedy, temperature: 0.9, seed: 7n };
        const [whole] = await run(engine, [job(2, prompt, { sampling, count: 18 })]);
        const generated = whole!.tokens.slice(0, 11);
        const [rest] = await run(engine, [job(5, prompt, { sampling, generated, count: 7 })]);
        expect(rest!.tokens).toEqual(whole!.tokens.slice(11));
        expect(rest!.logprobs).toEqual(whole!.logprobs.slice(11));
      }
    });

    test('the number of threads does not change a bit', async () => {
      const threaded = await loadGolden(modelsDir + model, { isa, dtype, threads: 3 });
      try {
        const { ids } = golden.teacherForced;
        expect(await score(threaded, ids, 512)).toEqual(await score(engine, ids, 512));
      } finally {
        await threaded.dispose();
      }
    });
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
