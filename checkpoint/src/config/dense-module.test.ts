import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { checkDenseTensors, readDense } from './dense-module.js';

const module = readDense('2_Dense', '{"in_features": 3, "out_features": 5}', { width: 3, from: 'model' });
const tensor = (name: string, shape: number[], dtype = 'F32'): TensorEntry => ({
  ...{ name, dtype, shape, bytes: 4 * shape.reduce((product, side) => product * side, 1) },
});
const weight = tensor('linear.weight', [5, 3]);
const bias = tensor('linear.bias', [5]);

test('takes the tensors that its config names', () => {
  checkDenseTensors(module, [bias, weight]);
  checkDenseTensors({ ...module, bias: false }, [weight]);
});

test.each([
  [null, 'CheckpointIncomplete', 'there is no 2_Dense/model.safetensors'],
  [[weight], 'CheckpointIncomplete', '2_Dense/model.safetensors has no tensor linear.bias'],
  [
    [tensor('linear.weight', [3, 5]), bias],
    'CheckpointCorrupt',
    '2_Dense/model.safetensors has tensor linear.weight of [3, 5]; expected [5, 3], by 2_Dense/config.json',
  ],
  [
    [tensor('linear.weight', [5, 3], 'I8'), bias],
    'UnsupportedArchitecture',
    'linear.weight of type I8; supported: F32, BF16, F16',
  ],
  [
    [weight, bias, tensor('residual.weight', [5, 3])],
    'CheckpointCorrupt',
    'residual.weight, which 2_Dense/config.json does not name',
  ],
])('refuses %j', (tensors, reason, problem) => {
  const failure = thrownBy(FailureError, () => checkDenseTensors(module, tensors));
  expect(failure.reason).toBe(reason);
  expect(failure.message).toContain(problem);
});
