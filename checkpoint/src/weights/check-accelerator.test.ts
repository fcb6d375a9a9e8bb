import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import {
  euroBertConfig,
  gemma2Config,
  gemma3Config,
  gemma4MoeConfig,
  gemma4SmallConfig,
  glm4MoeConfig,
  gptOssConfig,
  mixtralConfig,
  qwen36Config,
} from '../config/config.fixture.js';
import { modernBertConfig } from '../config/modernbert-config.fixture.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import { checkAccelerator } from './check-accelerator.js';

test.each([
  [
    { ...parseCheckpointConfig(gemma2Config), headDim: 528 },
    'gemma2 runs on CPUs alone (accelerator.resourceName none): there are no GPU kernels for heads of more than 512 features',
  ],
  [
    { ...parseCheckpointConfig(mixtralConfig), headDim: 12 },
    'mixtral runs on CPUs alone (accelerator.resourceName none): there are no GPU kernels for heads that are no multiple of 16 features',
  ],
])('$architecture is refused on GPUs, with what is missing and what would do', (shape, problem) => {
  for (const accelerator of ['cuda', 'hip'] as const) {
    const failure = thrownBy(FailureError, () => checkAccelerator(shape, accelerator));
    expect(failure.reason).toBe('UnsupportedArchitecture');
    expect(failure.message).toBe(problem);
  }
  expect(() => checkAccelerator(shape, 'cpu')).not.toThrow();
});

test.each([
  qwen36Config,
  mixtralConfig,
  gemma2Config,
  gemma3Config,
  gemma4MoeConfig,
  gemma4SmallConfig,
  gptOssConfig,
  glm4MoeConfig,
  euroBertConfig,
  modernBertConfig,
])('$model_type runs on GPUs', (config) => {
  expect(() => checkAccelerator(parseCheckpointConfig(config), 'cuda')).not.toThrow();
});
