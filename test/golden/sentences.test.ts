// Embeddings of an encoder with modules behind its pooling, as EmbeddingGemma is published, against those of sentence-transformers.

import { readFileSync } from 'node:fs';
import { expect, jest, test } from '@jest/globals';
import { cpuIsas, type EngineOptions } from '@llmservice/native';
import { readHeads } from '../../runtime/src/checkpoint/read-classifier.js';
import { atOnce } from '../../runtime/src/loop-turns.js';
import { through } from '../../runtime/src/request/prepare/dense-layers.js';
import { encodersDir } from './encoder-models.js';
import { distance, embed, loadGolden } from './engine-driver.js';

jest.setTimeout(60_000);

const dir = `${encodersDir}gemma3_text-bidirectional`;
/** Of length 1. */
type Sentences = readonly { readonly prompt: number[]; readonly cls: number[]; readonly mean: number[] }[];
const sentences = JSON.parse(readFileSync(`${dir}/sentences.json`, 'utf8')) as Sentences;
const poolings = ['cls', 'mean'] as const;
const isa = cpuIsas().at(-1) as EngineOptions['isa'];

test.each([
  ['float32', 1, 1e-3],
  ['float32', 2, 1e-3],
  ['bfloat16', 1, 5e-2],
] as const)('in %s on %i ranks', async (dtype, ranks, allowed) => {
  const { pooling, projection, embeddingWidth } = await readHeads(dir);
  expect([pooling, embeddingWidth]).toEqual(['mean', sentences[0]!.mean.length]);
  const asked = sentences.flatMap(({ prompt }, i) =>
    poolings.map((each, k) => ({ slot: poolings.length * i + k, prompt, pooling: each })),
  );
  const engine = await loadGolden(dir, { isa, dtype, threads: 1 }, ranks);
  try {
    const states = await embed(engine, asked, 512);
    const wanted = sentences.flatMap((each) => poolings.map((name) => each[name]));
    states.forEach((state, i) => {
      const embedding = atOnce(through(projection, state));
      const length = Math.hypot(...embedding);
      expect(
        distance(
          embedding.map((value) => value / length),
          wanted[i]!,
        ),
      ).toBeLessThan(allowed);
    });
  } finally {
    await engine.dispose();
  }
});
