// The engine on several tensor-parallel ranks: against transformers, against one rank, and against itself.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Engine, EngineOptions } from '@llmservice/native';
import { cpuIsas } from '@llmservice/native';

import { cpuReference } from './cpu-reference.js';
import { loadGolden, score } from './engine-driver.js';
import {
  expectGreedyOfReference,
  expectScoresOfReference,
  expectTogetherAsAlone,
  furthest,
  modelsDir,
} from './reference-bar.js';

jest.setTimeout(120_000);

const isa = cpuIsas().at(-1) as EngineOptions['isa'];

describe.each([
  ['llama-bf16', 2],
  ['mistral-bf16', 2],
  ['mixtral-bf16', 2],
  ['gemma2-bf16', 2],
  ['gemma3_text-bf16', 2],
  ['gemma4-bf16', 2],
  ['gemma4-bf16-moe', 2],
  ['glm4_moe-bf16', 2],
  ['glm4_moe-fp8-channel', 4],
  ['gpt_oss-mxfp4', 2],
  ['gpt_oss-mxfp4', 4],
  ['gpt_oss-bf16', 2],
  ['gpt_oss-gguf-mxfp4', 2],
  ['qwen2-bf16', 2],
  ['qwen3-bf16', 2],
  ['qwen3-bf16', 4],
  ['qwen3_5-bf16', 2],
  ['qwen3_5-gguf-q8_0', 2],
  ['qwen3_5_moe-gguf-nvfp4', 4],
  ['qwen3_5_text-fp8-ranks', 2],
  ['qwen3_5_text-fp8-ranks', 4],
  ['gemma2-w4a16', 4],
  ['gemma4_text-gguf-moe', 2],
  ['llama-gptq', 4],
  ['qwen2-awq', 2],
  ['mixtral-awq', 2],
  ['qwen3_moe-gptq', 2],
  ['llama-w8a8', 2],
  ['llama-bf16-ranks', 8],
  ['qwen3_5-bf16-eight-ranks', 8],
] as const)('%s on %i ranks', (model, ranks) => {
  const modelDir = modelsDir + model;
  describe.each(['float32', 'bfloat16'] as const)('in %s', (dtype) => {
    const { golden, bar } = cpuReference(model, isa, dtype);
    let engine: Engine;
    beforeAll(async () => {
      engine = await loadGolden(modelDir, { isa, dtype, threads: 1 }, ranks);
    });
    afterAll(() => engine.dispose());

    test('greedy tokens and their logprobs are the reference’s, up to the first close call', async () => {
      await expectGreedyOfReference(engine, golden, bar);
    });

    test('256 teacher-forced positions have the reference’s logprobs, and those of one rank', async () => {
      const got = await expectScoresOfReference(engine, golden, bar);
      const alone = await loadGolden(modelDir, { isa, dtype, threads: 1 });
      try {
        expect(
          furthest(got.logprobs, (await score(alone, golden.teacherForced.ids, 512)).logprobs),
        ).toBeLessThan(bar.allowed);
      } finally {
        await alone.dispose();
      }
    });

    test('the split of a prompt into chunks does not change a bit', async () => {
      const { ids } = golden.teacherForced;
      expect(await score(engine, ids, 64)).toEqual(await score(engine, ids, 512));
    });

    test('16 sequences that run together give exactly what each gives alone', async () => {
      await expectTogetherAsAlone(engine, golden);
    });
  });
});

test.each([
  ['8 ranks for 6 heads', 'llama-bf16', 8, 'num_attention_heads (6)'],
  ['2 ranks of columns in the order of their groups', 'qwen3-gptq-v2', 2, 'use one rank'],
  [
    '2 ranks that would cut a block within a round',
    'qwen3_5-gguf-q4_k',
    2,
    'blk.0.ssm_out.weight lie in 2 rounds over all key heads',
  ],
  ['2 ranks that would cut an FP8 block', 'llama-fp8', 2, 'cuts a group of 128 that share a scale'],
])('%s are refused, saying what cannot be divided', async (_, model, ranks, message) => {
  await expect(
    loadGolden(modelsDir + model, { isa, dtype: 'auto', threads: 1 }, ranks),
  ).rejects.toMatchObject({
    reason: 'ParallelismInvalid',
    message: expect.stringContaining(message),
  });
});
