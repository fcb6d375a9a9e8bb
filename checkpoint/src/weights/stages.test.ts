// Stages of the reference deployment's checkpoint, Qwen3.6-27B-FP8: figures of one rank of two are those that
// worked-plans.test.ts works by hand, of which each stage of two has half the layers.

import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { qwen36Config } from '../config/config.fixture.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import { planMemory } from '../memory/memory-plan.js';
import { sharedMemoryNeeded } from '../memory/shared-memory.js';
import { qwen36Tensors } from './qwen36-tensors.fixture.js';
import { weightBytesByRank } from './rank-weights.js';
import { residentWeights } from './resident-weights.js';
import { checkPipeline, stageShape, stagesOf, stageWeights } from './stages.js';

const shape = parseCheckpointConfig(qwen36Config);
const speculative = { method: 'none', tokens: 3 } as const;
const weights = residentWeights(qwen36Tensors, shape, { dtype: 'auto', quantization: 'none', speculative });

const halfOfLayers = (839_303_168 + 2_805_015_552 + 8_560_558_080) / 2 + 64 * 5120 * 4;
const tables = 2_542_796_800;

test('the first stage has embedding and head, the last the final norm, each the layers of its half', () => {
  const ofRank = stagesOf(2).map(
    (stage) => weightBytesByRank(stageWeights(weights, shape, stage), 2, shape.kvHeads, true)[0],
  );
  expect(ofRank).toEqual([tables + halfOfLayers, halfOfLayers + 5120 * 4]);
});

test('no layer is lost or held twice where stages are not equal', () => {
  const shapes = stagesOf(5).map((stage) => stageShape(shape, stage));
  expect(shapes.map(({ layerKinds }) => layerKinds.length)).toEqual([12, 13, 13, 13, 13]);
  expect(shapes.flatMap(({ layerKinds }) => layerKinds)).toEqual(shape.layerKinds);
  const bytes = stagesOf(5).map(
    (stage) => weightBytesByRank(stageWeights(weights, shape, stage), 1, shape.kvHeads)[0]!,
  );
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBe(weightBytesByRank(weights, 1, shape.kvHeads)[0]);
});

test('weights of a stage are those of a model of its layers', () => {
  for (const stage of stagesOf(2)) {
    const [own, ofStage] = [stageShape(shape, stage), stageWeights(weights, shape, stage)];
    const again = stageWeights(ofStage, own, { index: 0, count: 1 });
    expect(weightBytesByRank(again, 2, shape.kvHeads)).toEqual(weightBytesByRank(ofStage, 2, shape.kvHeads));
  }
});

test('the plan counts of weights, KV and states those of the stage that has most', () => {
  const plan = planMemory({
    ...{ shape, weights, speculative, accelerator: 'hip', tensor: 2, pipeline: 2, memoryBytes: 48 * 2 ** 30 },
    ...{ memoryUtilizationPercent: 85, maxModelLen: 32768, maxNumSeqs: 64, maxNumBatchedTokens: 8192 },
    ...{ blockSize: 64, prefixCaching: true, dtype: 'auto', kvCacheDtype: 'auto' },
  });
  expect(plan.weightBytes).toBe(tables + halfOfLayers);
  expect(plan.kvBytesPerToken).toBe(32768 / 2);
  expect(plan.stateBytesPerSeq).toBe(78_446_592 / 2);
});

test('stages of several ranks have turns of their own in /dev/shm', () => {
  expect(sharedMemoryNeeded(1, 2)).toBe(sharedMemoryNeeded(2));
  expect(sharedMemoryNeeded(2, 2)).toBe(sharedMemoryNeeded(4) + 4 * 2 * 2 ** 20);
});

test('more stages than layers are refused', () => {
  const { failure } = thrownBy(FailureError, () => checkPipeline(shape, 65));
  expect(failure).toMatchObject({
    reason: 'ParallelismInvalid',
    message: expect.stringContaining('values that work: 1 to 64'),
  });
  expect(() => checkPipeline(shape, 64)).not.toThrow();
});
