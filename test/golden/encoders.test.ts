// Encoders against transformers' hidden states, and against themselves: neighbours, threads, ranks and the scheduler change no
// bit or stay within the bar; memory to the byte.

import { readFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { planMemory, residentWeights } from '@llmservice/checkpoint';
import { openCheckpoint } from '@llmservice/checkpoint/local';
import { cpuIsas, type Engine, type EngineOptions } from '@llmservice/native';

import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';
import { Scheduler } from '../../runtime/src/schedule/scheduler.js';
import { encoders, encodersDir } from './encoder-models.js';
import { distance, embed, loadGolden, noDrafts, room, run } from './engine-driver.js';
import { job } from './reference-bar.js';

jest.setTimeout(60_000);

/** embeddings.json, as generate/ writes it. */
type Golden = readonly {
  readonly prompt: number[];
  readonly cls: number[];
  readonly last: number[];
  readonly mean: number[];
}[];

/** Allowed length of the difference, relative to the reference's length: as of models that generate. */
const tolerance = { float32: 1e-3, bfloat16: 5e-2 };
const poolings = ['cls', 'last', 'mean'] as const;
/** Numbers of ranks that divide its heads. */
function ranksOf(model: string): number[] {
  const config = JSON.parse(readFileSync(`${encodersDir}${model}/config.json`, 'utf8')) as {
    readonly num_attention_heads: number;
  };
  return [2, 4].filter((ranks) => config.num_attention_heads % ranks === 0);
}

const isa = cpuIsas().at(-1) as EngineOptions['isa'];

describe.each(encoders)('%s', (model) => {
  const dir = encodersDir + model;
  const golden = JSON.parse(readFileSync(`${dir}/embeddings.json`, 'utf8')) as Golden;
  const asked = golden.flatMap(({ prompt }, i) =>
    poolings.map((pooling, k) => ({ slot: 3 * i + k, prompt, pooling })),
  );

  async function expectReference(engine: Engine, allowed: number): Promise<Float32Array[]> {
    const alone: Float32Array[] = [];
    for (const each of asked) alone.push(...(await embed(engine, [each], 512)));
    const wanted = golden.flatMap((each) => poolings.map((pooling) => each[pooling]));
    alone.forEach((got, i) => expect(distance(got, wanted[i]!)).toBeLessThan(allowed));
    return alone;
  }

  describe.each(['float32', 'bfloat16'] as const)('in %s', (dtype) => {
    let engine: Engine;
    let alone: Float32Array[];
    beforeAll(async () => {
      engine = await loadGolden(dir, { isa, dtype, threads: 1 });
      alone = await expectReference(engine, tolerance[dtype]);
    });
    afterAll(() => engine.dispose());

    test('all together: the same bits, on two threads too', async () => {
      expect(await embed(engine, asked, 512)).toEqual(alone);
      expect(await embed(engine, asked.toReversed(), 512)).toEqual(alone.toReversed());
      const threaded = await loadGolden(dir, { isa, dtype, threads: 2 });
      expect(await embed(threaded, asked, 512)).toEqual(alone);
      await threaded.dispose();
    });

    test('by the scheduler, with the prefix cache on: the same bits', async () => {
      const limits = { ...room, maxNumBatchedTokens: 320, speculative: noDrafts, prefixCaching: true };
      const { hybrid, bidirectional } = engine.info;
      const scheduler = new Scheduler({ ...limits, hybrid, bidirectional });
      for (const { slot, prompt, pooling } of asked) {
        scheduler.add(generateRequest(String(slot), Int32Array.from(prompt), { pooling, maxTokens: 0 }));
      }
      const found = new Map<string, Float32Array>();
      for (let step = scheduler.plan(); step !== null; step = scheduler.plan()) {
        const { embedded } = scheduler.postprocess(await engine.step(step.plan));
        for (const { id, embedding } of embedded) found.set(id, embedding);
      }
      expect(asked.map(({ slot }) => found.get(String(slot)))).toEqual(alone);
    });
  });

  test.each(ranksOf(model))('on %i ranks: those of the reference', async (ranks) => {
    const engine = await loadGolden(dir, { isa, dtype: 'float32', threads: 1 }, ranks);
    try {
      const alone = await expectReference(engine, tolerance.float32);
      expect(await embed(engine, asked, 512)).toEqual(alone);
    } finally {
      await engine.dispose();
    }
  });

  test('the engine itself refuses to divide a text, and to generate', async () => {
    const engine = await loadGolden(dir, { isa, dtype: 'bfloat16', threads: 1 });
    try {
      const [long] = asked.slice(-1);
      await expect(embed(engine, [long!], 64)).rejects.toThrow('all are computed in one step');
      await expect(run(engine, [job(0, long!.prompt)])).rejects.toThrow('generates nothing');
    } finally {
      await engine.dispose();
    }
  });

  test.each([
    { dtype: 'bfloat16', kvCacheDtype: 'auto', tensor: 1 },
    { dtype: 'float32', kvCacheDtype: 'fp8', tensor: 1 },
    { dtype: 'bfloat16', kvCacheDtype: 'auto', tensor: 2 },
  ] as const)('takes the memory that was planned: %j', async ({ tensor, ...types }) => {
    const { shape, tensors } = await openCheckpoint(dir);
    const way = { ...types, speculative: noDrafts };
    const weights = residentWeights(tensors, shape, { ...way, quantization: 'none' });
    const sizes = { blockSize: 16, maxNumSeqs: 3, maxModelLen: 64, maxNumBatchedTokens: 112 };
    const { numBlocks, weightBytes, kvBytesPerBlock, workspaceBytes } = planMemory({
      ...{ ...sizes, ...way, accelerator: 'cpu', tensor, weights, shape, prefixCaching: true },
      memoryBytes: 2 ** 33,
      memoryUtilizationPercent: 90,
    });
    expect(numBlocks).toBe(Math.floor((112 + 3 * 15) / 16));
    const engine = await loadGolden(dir, { isa, ...sizes, ...way, numBlocks }, tensor);
    expect(engine.info).toMatchObject({ weightBytes, kvBytesPerBlock, workspaceBytes, bidirectional: true });
    await engine.dispose();
  });
});
