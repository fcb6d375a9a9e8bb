import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { gemma2Config, gemma3Config, mixtralConfig, qwen36Config } from '../config/config.fixture.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import { evenWeights } from '../weights/resident-weights.fixture.js';
import { checkAccelerator } from './check-accelerator.js';
import { planMemory } from './memory-plan.js';

const gemma2 = parseCheckpointConfig(gemma2Config);

test.each([
  [
    gemma2,
    'gemma2 runs on CPUs alone (accelerator.resourceName none): there are no GPU kernels for scaled embeddings, GELU gates, capped scores of attention, capped logits',
  ],
  [
    parseCheckpointConfig(gemma3Config),
    'gemma3 runs on CPUs alone (accelerator.resourceName none): there are no GPU kernels for scaled embeddings, GELU gates',
  ],
])('$architecture is refused on GPUs, with what is missing and what would do', (shape, problem) => {
  for (const accelerator of ['cuda', 'hip'] as const) {
    const failure = thrownBy(FailureError, () => checkAccelerator(shape, accelerator));
    expect(failure.reason).toBe('UnsupportedArchitecture');
    expect(failure.message).toBe(problem);
  }
  expect(() => checkAccelerator(shape, 'cpu')).not.toThrow();
});

test.each([qwen36Config, mixtralConfig])('$model_type runs on GPUs', (config) => {
  expect(() => checkAccelerator(parseCheckpointConfig(config), 'cuda')).not.toThrow();
});

test('a memory plan of a GPU is refused before anything else is checked', () => {
  const failure = thrownBy(FailureError, () =>
    planMemory({
      ...{
        shape: gemma2,
        accelerator: 'cuda',
        weights: evenWeights(1e9),
        memoryBytes: 0,
        memoryUtilizationPercent: 90,
      },
      ...{
        tensor: 7,
        maxModelLen: null,
        maxNumSeqs: 1,
        maxNumBatchedTokens: 64,
        blockSize: 16,
        prefixCaching: true,
      },
      ...{ dtype: 'auto', kvCacheDtype: 'auto', speculative: { method: 'none', tokens: 0 } },
    }),
  );
  expect(failure.message).toContain('gemma2 runs on CPUs alone');
});
