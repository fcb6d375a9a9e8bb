// Checkpoints with a head that classifies against transformers' classes for them: logits, and memory to the byte.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { describe, expect, jest, test } from '@jest/globals';
import { planMemory, residentWeights } from '@llmservice/checkpoint';
import { openCheckpoint } from '@llmservice/checkpoint/local';
import { cpuIsas, type EngineOptions } from '@llmservice/native';

import { readHeads } from '../../runtime/src/checkpoint/read-classifier.js';
import { emptyOutput } from '../../runtime/src/engine/output-queue.js';
import { atOnce } from '../../runtime/src/loop-turns.js';
import { logitsOf } from '../../runtime/src/request/prepare/classifier.js';
import { classifierRequest } from '../../runtime/src/request/prepare/prompt-request.js';
import { ask, loadGolden, room } from './engine-driver.js';
import { modelsDir } from './reference-bar.js';

jest.setTimeout(60_000);

/** labels.json, as generate/ writes it. */
type Golden = readonly { readonly prompt: number[]; readonly logits: number[] }[];

const folder = fileURLToPath(new URL('classifiers/', import.meta.url));
const isa = cpuIsas().at(-1) as EngineOptions['isa'];
const scheduling = { cacheSalt: null, fairnessKey: '', priority: null, maxQueueMs: null };
const named: Readonly<Record<string, object>> = {
  'qwen3-reranker': { names: ['LABEL_0'], activation: 'sigmoid' },
  'xlm-roberta-reranker': { names: ['LABEL_0'], activation: 'sigmoid', pooling: 'cls' },
  'gemma2-classes': { names: ['safe', 'unsafe', 'unclear'], activation: 'softmax' },
};

describe.each(readdirSync(folder))('%s', (name) => {
  const dir = folder + name;
  const golden = JSON.parse(readFileSync(`${dir}/labels.json`, 'utf8')) as Golden;

  test.each([
    ['float32', 1, 1e-3],
    ['float32', 2, 1e-3],
    ['bfloat16', 1, 0.2],
  ] as const)('in %s on %i ranks: logits of the reference', async (dtype, ranks, allowed) => {
    const { classifier: head, generates } = await readHeads(dir);
    expect(generates).toBe(false);
    expect(head).toMatchObject(named[name]!);
    const engine = await loadGolden(dir, { isa, dtype, threads: 1 }, ranks);
    try {
      for (const { prompt, logits } of golden) {
        const ids = Int32Array.from(prompt);
        const request = classifierRequest('a', ids, head!, room.maxModelLen, scheduling);
        const { embeddings } = await ask(engine, request);
        const got = atOnce(logitsOf(head!, { ...emptyOutput, embedding: embeddings.values }));
        expect(got).toHaveLength(logits.length);
        logits.forEach((wanted, label) => expect(Math.abs(got![label]! - wanted)).toBeLessThan(allowed));
      }
    } finally {
      await engine.dispose();
    }
  });

  test('takes the memory that was planned, its head none of it', async () => {
    const { shape, tensors } = await openCheckpoint(dir);
    const way = {
      dtype: 'bfloat16',
      kvCacheDtype: 'auto',
      speculative: { method: 'none', tokens: 0 },
    } as const;
    const weights = residentWeights(tensors, shape, { ...way, quantization: 'none' });
    const sizes = { blockSize: 16, maxNumSeqs: 3, maxModelLen: 64, maxNumBatchedTokens: 112 };
    const { numBlocks, weightBytes, kvBytesPerBlock, workspaceBytes } = planMemory({
      ...{ ...sizes, ...way, accelerator: 'cpu', tensor: 1, weights, shape, prefixCaching: true },
      memoryBytes: 2 ** 33,
      memoryUtilizationPercent: 90,
    });
    const engine = await loadGolden(dir, { isa, ...sizes, ...way, numBlocks });
    expect(engine.info).toMatchObject({ weightBytes, kvBytesPerBlock, workspaceBytes });
    await engine.dispose();
  });
});

test.each(['qwen3-bf16', 'llama-gguf-f16/model.gguf'])('%s, which generates, has no head', async (model) => {
  const heads = { generates: true, classifier: null, pooling: null, projection: [], matryoshka: null };
  expect(await readHeads(modelsDir + model)).toMatchObject(heads);
});
