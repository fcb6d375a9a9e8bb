// Embeddings of the engine against transformers' hidden states, on a model of every architecture and format; and
// against themselves: neither chunks, neighbours nor ranks may change what they are.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { supportedModelTypes } from '@llmservice/checkpoint';
import type { Engine, EngineOptions, Pooling } from '@llmservice/native';
import { cpuIsas } from '@llmservice/native';

import { bareCopy } from './bare-copy.js';
import { encoderTypes } from './encoder-models.js';
import { distance, embed, greedy, loadGolden, run } from './engine-driver.js';
import { job, modelsDir } from './reference-bar.js';

jest.setTimeout(120_000);

/** embeddings.json of a model, as generate/ writes it. */
type Golden = readonly {
  readonly prompt: number[];
  readonly last: number[];
  readonly mean: number[];
}[];

/** Allowed length of the difference, relative to the reference's length. */
const tolerance = { float32: 1e-3, bfloat16: 5e-2 };

const isa = cpuIsas().at(-1) as EngineOptions['isa'];
const models = readdirSync(modelsDir).filter((model) => existsSync(`${modelsDir}${model}/embeddings.json`));
const readGolden = (model: string): Golden =>
  JSON.parse(readFileSync(`${modelsDir}${model}/embeddings.json`, 'utf8')) as Golden;

const poolings = ['last', 'mean'] as const satisfies readonly Pooling[];

test('every architecture has a golden', () => {
  const architectures = models.map((model) => {
    const config = JSON.parse(readFileSync(`${modelsDir}${model}/config.json`, 'utf8')) as {
      model_type: string;
    };
    return config.model_type;
  });
  expect([...new Set([...architectures, ...encoderTypes])].sort()).toEqual([...supportedModelTypes].sort());
});

describe.each(models)('%s', (model) => {
  const golden = readGolden(model);

  describe.each(['float32', 'bfloat16'] as const)('in %s', (dtype) => {
    let engine: Engine;
    beforeAll(async () => {
      engine = await loadGolden(modelsDir + model, { isa, dtype, threads: 1 });
    });
    afterAll(() => engine.dispose());

    test.each(poolings)('%s: those of the reference', async (pooling) => {
      for (const wanted of golden) {
        const [got] = await embed(engine, [{ slot: 0, prompt: wanted.prompt, pooling }], 512);
        expect(distance(got!, wanted[pooling])).toBeLessThan(tolerance[dtype]);
      }
    });

    test.each(poolings)('%s: the same bits in chunks, and beside others', async (pooling) => {
      const asked = golden.map(({ prompt }, i) => ({ slot: 3 * i, prompt, pooling }));
      const alone: Float32Array[] = [];
      for (const each of asked) alone.push(...(await embed(engine, [each], 512)));
      expect(await embed(engine, asked, 512)).toEqual(alone);
      expect(await embed(engine, asked, 64)).toEqual(alone);
      // A sequence that has generated before leaves nothing in its slot.
      await run(engine, [job(0, golden[0]!.prompt, { count: 3, sampling: greedy })]);
      expect(await embed(engine, asked, 64)).toEqual(alone);
    });
  });
});

test.each(['qwen3-bf16', 'llama-bf16'])(
  '%s saved without its head: those of the reference',
  async (model) => {
    const folder = bareCopy(modelsDir + model);
    const engine = await loadGolden(folder, { isa, dtype: 'float32', threads: 1 });
    try {
      for (const wanted of readGolden(model)) {
        const [got] = await embed(engine, [{ slot: 0, prompt: wanted.prompt, pooling: 'last' }], 64);
        expect(distance(got!, wanted.last)).toBeLessThan(tolerance.float32);
      }
    } finally {
      await engine.dispose();
      rmSync(folder, { recursive: true });
    }
  },
);

test.each(['llama-bf16', 'qwen3_5-bf16'])('%s on 2 ranks: those of the reference', async (model) => {
  const engine = await loadGolden(modelsDir + model, { isa, dtype: 'float32', threads: 1 }, 2);
  try {
    for (const wanted of readGolden(model)) {
      for (const pooling of poolings) {
        const [got] = await embed(engine, [{ slot: 0, prompt: wanted.prompt, pooling }], 64);
        expect(distance(got!, wanted[pooling])).toBeLessThan(tolerance.float32);
      }
    }
  } finally {
    await engine.dispose();
  }
});
