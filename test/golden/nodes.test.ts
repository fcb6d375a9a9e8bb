// Ranks on several nodes: bit by bit what the same ranks compute on one.

import { expect, jest, test } from '@jest/globals';
import type { Engine } from '@llmservice/native';
import { cpuIsas, type EngineOptions } from '@llmservice/native';
import { answersOf, type EngineAnswers } from './engine-answers.js';
import { loadGolden } from './engine-driver.js';
import { loadOnNodes } from './nodes-engine.js';
import { job, modelsDir, readGolden } from './reference-bar.js';

jest.setTimeout(120_000);

const how = { isa: cpuIsas().at(-1) as EngineOptions['isa'], dtype: 'auto', threads: 1 } as const;

function answers(engine: Engine, model: string): Promise<EngineAnswers> {
  const { greedy, teacherForced } = readGolden(model);
  const jobs = greedy.map(({ prompt }, slot) => job(slot, prompt, { joinsAt: slot }));
  // The one that is scored has several pieces, and sums that one node alone would divide.
  return answersOf(engine, jobs, teacherForced.ids);
}

test.each([
  ['qwen3_5_text-fp8-ranks', 2, 2],
  ['qwen3_5_text-fp8-ranks', 2, 4],
  ['llama-bf16-ranks', 4, 8],
  ['gemma2-w4a16', 2, 4],
] as const)('%s on %i nodes with %i ranks has the bits of one node', async (model, nodes, ranks) => {
  const modelDir = modelsDir + model;
  const onOne = await answers(await loadGolden(modelDir, how, ranks), model);
  expect(await answers(await loadOnNodes(modelDir, how, [nodes, ranks]), model)).toEqual(onOne);
});

test('nodes that were planned otherwise are refused by what differs', async () => {
  const other = { plan: '{"maxNumSeqs":16,"version":"1"}' };
  const changes = { 0: { plan: '{"maxNumSeqs":8,"version":"1"}' }, 1: other };
  await expect(loadOnNodes(`${modelsDir}qwen3-bf16`, how, [2, 2], changes)).rejects.toMatchObject({
    reason: 'ParallelismInvalid',
    message:
      'The nodes of a group must agree: maxNumSeqs is 8 on node 0 of 2 (pod-0) and 16 on node 1 (pod-1).',
  });
});

test('a node that does not come is named after the time that nodes wait', async () => {
  const late = { 0: { waitMs: 500 }, 1: { leader: 'no-such-leader.invalid', waitMs: 600 } };
  await expect(loadOnNodes(`${modelsDir}qwen3-bf16`, how, [2, 2], late)).rejects.toMatchObject({
    reason: 'EngineFault',
    message: expect.stringContaining('no connection came from node 1 of 2'),
  });
});
