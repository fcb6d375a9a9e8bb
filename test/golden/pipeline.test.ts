// Layers divided among the stages of a pipeline: bit by bit what one stage computes.

import { expect, jest, test } from '@jest/globals';
import { cpuIsas, type Engine, type EngineOptions } from '@llmservice/native';
import { answersOf, type EngineAnswers } from './engine-answers.js';
import { loadGolden } from './engine-driver.js';
import { loadOnNodes } from './nodes-engine.js';
import { job, modelsDir, readGolden } from './reference-bar.js';

jest.setTimeout(120_000);

const how = { isa: cpuIsas().at(-1) as EngineOptions['isa'], dtype: 'auto', threads: 1 } as const;

function answers(engine: Engine, model: string): Promise<EngineAnswers> {
  const { greedy, teacherForced } = readGolden(model);
  // Prompts of the first step are rows enough for several parts, which stages compute at once.
  const jobs = [...greedy, { prompt: teacherForced.ids }].map(({ prompt }, slot) =>
    job(slot, prompt, { joinsAt: slot % 2, chunk: 128 }),
  );
  // Of the one that is scored, chunks are the parts.
  return answersOf(engine, jobs, teacherForced.ids);
}

test.each([
  ['llama-bf16', 2, 1],
  ['llama-bf16', 3, 1],
  ['qwen3-bf16', 2, 2],
  ['gemma3_text-bf16', 2, 2],
  ['qwen3_5-bf16', 3, 2],
  ['mixtral-bf16', 2, 1],
] as const)('%s in %i stages of %i ranks has the bits of one stage', async (model, stages, tensor) => {
  const modelDir = modelsDir + model;
  const alone = await answers(await loadGolden(modelDir, how, tensor), model);
  const divided = await answers(await loadGolden(modelDir, how, tensor * stages, stages), model);
  expect(divided).toEqual(alone);
  expect(alone.scores.logprobs).toHaveLength(256);
});

test.each([
  ['llama-bf16', 2, 2, 2],
  ['qwen3_5-bf16', 2, 2, 4],
] as const)(
  '%s in %i stages on %i nodes with %i ranks has the bits of one node',
  async (model, stages, nodes, ranks) => {
    const modelDir = modelsDir + model;
    const alone = await answers(await loadGolden(modelDir, how, ranks / stages), model);
    const divided = await answers(await loadOnNodes(modelDir, how, [nodes, ranks], {}, stages), model);
    expect(divided).toEqual(alone);
  },
);

test.each([
  ['more stages than layers', 'llama-bf16-ranks', {}, 4, 4, '4 stages cannot divide llama: it has 2 layers.'],
  ['an encoder', '../encoders/xlm-roberta-bf16', {}, 2, 2, 'it is an encoder'],
  [
    'layers that read those of another stage',
    'gemma4-bf16',
    {},
    2,
    2,
    'keys and values of layers of another',
  ],
  ['drafts', 'llama-bf16', { speculative: { method: 'ngram', tokens: 2 } }, 2, 2, 'speculative.method none'],
] as const)('%s are refused by what stages cannot do', async (_, model, changes, ranks, stages, message) => {
  await expect(loadGolden(modelsDir + model, { ...how, ...changes }, ranks, stages)).rejects.toMatchObject({
    reason: 'ParallelismInvalid',
    message: expect.stringContaining(message),
  });
});
