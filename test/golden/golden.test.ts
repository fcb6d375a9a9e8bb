// The engine against transformers, on random-weight models of every architecture and format; and against itself:
// how steps are cut, who runs alongside a sequence and preemption must not change a single bit. Instruction families that
// round activations alike give the same bits (the native tests show it op by op), so that the fast run compares bits in the
// best one, and of every architecture in the others, which meet further formats in one type of activations each. The portable
// family, 20 times as slow, is held to the bits of the fastest that rounds as it does, whose numbers are the reference's.

import { readdirSync, readFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Engine, EngineOptions } from '@llmservice/native';
import { cpuIsas } from '@llmservice/native';

import { oneOfEach, wide } from './breadth.js';
import { cpuReference } from './cpu-reference.js';
import { greedy, loadGolden, run, score } from './engine-driver.js';
import {
  expectGreedyOfReference,
  expectScoresOfReference,
  expectTogetherAsAlone,
  job,
  modelsDir,
  readGolden,
} from './reference-bar.js';

// Seconds on an idle machine; minutes where other tests share its cores.
jest.setTimeout(120_000);

const models = readdirSync(modelsDir);
const dtypes = ['float32', 'bfloat16'] as const;
const isas = cpuIsas();
const machines = isas.flatMap((isa) => dtypes.map((dtype) => ({ isa: isa as EngineOptions['isa'], dtype })));
const looksAtBits = (isa: string, model: string): boolean =>
  wide || isa === isas.at(-1) || oneOfEach.includes(model);
/** In turn: a model meets both types in half of the families each, a family half of the models in each. */
const modelsOn = ({ isa, dtype }: (typeof machines)[number]): string[] =>
  models.filter(
    (model, i) => looksAtBits(isa, model) || dtype === dtypes[(i + isas.indexOf(isa)) % dtypes.length],
  );

/** What gives the bits of the portable family: the fastest that does not round activations; null: this processor has no
 *  other family, or all is run. */
const sameBits = wide || isas.length === 1 ? null : 'float32';
/** Of these the fast run compares the bits of the portable family with itself too, in one type. */
const portableToo = ['llama-bf16', 'qwen3_5-bf16'];
const isWhole = (isa: string, model: string, dtype: string): boolean =>
  isa !== 'portable' || sameBits === null || (portableToo.includes(model) && dtype === 'float32');

test('the models are those of the generator', () => {
  const generators = ['dense', 'form', 'moe', 'gguf'].map((name) =>
    readFileSync(new URL(`generate/${name}_fixtures.py`, import.meta.url), 'utf8'),
  );
  const fixtures = generators.flatMap((text) => [...text.matchAll(/\bFixture\(\s*"([^"]+)"/g)]);
  expect(models).toEqual(fixtures.map(([, name]) => name).sort());
  expect(models.length).toBeGreaterThan(36);
});

test.each(oneOfEach)('%s: exactness float32 gives the bits of every machine', async (model) => {
  const [portable, float32] = await Promise.all(
    (['portable', 'float32'] as const).map(async (isa) => {
      const engine = await loadGolden(modelsDir + model, { isa, dtype: 'bfloat16', threads: 1 });
      try {
        return await score(engine, readGolden(model).teacherForced.ids, 512);
      } finally {
        await engine.dispose();
      }
    }),
  );
  expect(float32).toEqual(portable);
});

const alike =
  sameBits === null
    ? []
    : dtypes.flatMap((dtype) => modelsOn({ isa: 'portable', dtype }).map((model) => ({ model, dtype })));

describe('on portable the bits are those of a faster family', () => {
  if (sameBits === null) return;

  test.each(alike)('$model in $dtype', async ({ model, dtype }) => {
    const { teacherForced } = readGolden(model);
    // Over the end of a chunk, a block and a panel of rows; together, as rows of one step.
    const ids = teacherForced.ids.slice(0, 100);
    const jobs = [5, 63].map((length, slot) =>
      job(slot, ids.slice(slot, slot + length), { count: 6, joinsAt: slot }),
    );
    const [portable, fast] = await Promise.all(
      (['portable', sameBits] as const).map(async (isa) => {
        const engine = await loadGolden(modelsDir + model, { isa, dtype, threads: 1 });
        try {
          return [await score(engine, ids, 64), await run(engine, jobs)];
        } finally {
          await engine.dispose();
        }
      }),
    );
    expect(portable).toEqual(fast);
  });
});

describe.each(machines)('on $isa in $dtype', ({ isa, dtype }) => {
  const whole = modelsOn({ isa, dtype }).filter((model) => isWhole(isa, model, dtype));
  if (whole.length === 0) return;

  describe.each(whole)('%s', (model) => {
    const { golden, bar } = cpuReference(model, isa, dtype);
    let engine: Engine;
    beforeAll(async () => {
      engine = await loadGolden(modelsDir + model, { isa, dtype, threads: 1 });
    });
    afterAll(() => engine.dispose());

    test('greedy tokens and their logprobs are the reference’s, up to the first close call', async () => {
      await expectGreedyOfReference(engine, golden, bar);
    });

    test('256 teacher-forced positions have the reference’s logprobs and most likely tokens', async () => {
      await expectScoresOfReference(engine, golden, bar);
      const { margins } = golden.teacherForced;
      expect(margins.filter((margin) => margin >= bar.close).length).toBeGreaterThan(150);
    });

    if (!looksAtBits(isa, model)) return;

    test('the split of a prompt into chunks does not change a bit', async () => {
      const whole = await score(engine, golden.teacherForced.ids, 512);
      for (const chunk of [64, 128])
        expect(await score(engine, golden.teacherForced.ids, chunk)).toEqual(whole);
      for (const { prompt } of golden.greedy.filter(({ prompt }) => prompt.length > 64)) {
        const [once] = await run(engine, [job(0, prompt, { count: 8 })]);
        expect(await run(engine, [job(0, prompt, { count: 8, chunk: 64 })])).toEqual([once]);
      }
    });

    test('16 sequences that run together give exactly what each gives alone', async () => {
      await expectTogetherAsAlone(engine, golden);
    });

    test('a preempted sequence continues as if nothing had happened', async () => {
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
