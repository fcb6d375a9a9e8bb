import { expect, test } from '@jest/globals';
import { parseCheckpointConfig, sharedMemoryNeeded } from '@llmservice/checkpoint';
import { qwen36Config } from '../../../../checkpoint/src/config/config.fixture.js';
import { evenWeights } from '../../../../checkpoint/src/weights/resident-weights.fixture.js';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import { planFit } from './memory.js';

test('a number of ranks that does not divide the model is refused on the CPU too, others are not', () => {
  const checkpoint = { shape: parseCheckpointConfig(qwen36Config), weights: evenWeights(29e9) };
  const ranks = (devices: number) => planFit(wantedService({ accelerator: { devices } }), checkpoint);
  expect(ranks(3)).toMatchObject({ state: 'failed', failure: { reason: 'ParallelismInvalid' } });
  expect(ranks(2)).toEqual({ state: 'unmeasured' });
});

test('a /dev/shm that the ranks on the CPU do not fit in is refused with the size needed', () => {
  const checkpoint = { shape: parseCheckpointConfig(qwen36Config), weights: evenWeights(29e9) };
  const spec = { accelerator: { devices: 4 }, sharedMemory: { sizeLimit: '8Mi' } };
  expect(planFit(wantedService(spec), checkpoint)).toMatchObject({
    failure: {
      reason: 'SharedMemoryTooSmall',
      detail: { needed: sharedMemoryNeeded(4), available: 8 * 2 ** 20 },
    },
  });
});

test('unknown memory is no ground to refuse, but ranks and context are still checked', () => {
  const checkpoint = { shape: parseCheckpointConfig(qwen36Config), weights: evenWeights(29e9) };
  expect(planFit(wantedService(), checkpoint)).toEqual({ state: 'unmeasured' });
  expect(planFit(wantedService({ engine: { maxModelLen: 1_000_000 } }), checkpoint)).toMatchObject({
    failure: { reason: 'InvalidEngineConfig' },
  });
});

test('on the CPU each node brings its memory, and has the areas of all ranks in its /dev/shm', () => {
  const checkpoint = { shape: parseCheckpointConfig(qwen36Config), weights: evenWeights(29e9) };
  const fit = (devices: number, nodes: number, memory: string, sizeLimit = '16Mi') =>
    planFit(
      wantedService({
        ...{ accelerator: { devices }, parallelism: { nodes }, resources: { limits: { memory } } },
        ...{ engine: { maxModelLen: 4096 }, sharedMemory: { sizeLimit } },
      }),
      checkpoint,
    );
  expect(fit(4, 4, '20Gi')).toMatchObject({
    state: 'fits',
    devices: 4,
    memoryBytes: 20 * 2 ** 30 - 16 * 2 ** 20,
  });
  expect(fit(4, 4, '8Gi')).toMatchObject({ state: 'failed', failure: { reason: 'ModelTooLarge' } });
  expect(fit(4, 4, '20Gi', '8Mi')).toMatchObject({ failure: { reason: 'SharedMemoryTooSmall' } });
});
