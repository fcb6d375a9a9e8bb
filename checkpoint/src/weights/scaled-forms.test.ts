import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { inScaledForm } from './scaled-forms.js';

const at = 'model.layers.0.mlp.down_proj.weight';

function entry(name: string, dtype: string, ...shape: number[]): TensorEntry {
  return { name, dtype, shape, bytes: shape.reduce((product, side) => product * side, 1) };
}

describe('FP8', () => {
  test.each([
    [
      'exponents by block',
      'F8_E4M3',
      '_scale_inv',
      [2, 3],
      { dtype: 'F32', bytes: 24, fused: 'powersOfTwo' },
    ],
    ['one exponent', 'F8_E4M3FNUZ', '_scale', [], { dtype: 'F32', bytes: 4, fused: 'powersOfTwo' }],
  ])('%s become floats', (_, dtype, suffix, shape, expected) => {
    const [, scale] = inScaledForm([entry(at, dtype, 256, 384), entry(at + suffix, 'F8_E8M0', ...shape)]);
    expect(scale).toMatchObject({ ...expected, shape });
  });

  test('codes of AMD are read as others, of matrices alone', () => {
    const [weight, norm] = inScaledForm([
      entry(at, 'F8_E4M3FNUZ', 256, 384),
      entry('model.norm.weight_of_other', 'F8_E4M3FNUZ', 256),
    ]);
    expect(weight).toMatchObject({ dtype: 'F8_E4M3', bytes: 256 * 384, fused: 'fnuz' });
    expect(norm).toMatchObject({ dtype: 'F8_E4M3FNUZ' });
  });

  test.each([
    ['of rows get their second side', [256], [256, 1]],
    ['of the tensor stay', [1], [1]],
    ['of another number stay, for whoever refuses them', [255], [255]],
  ])('scales %s', (_, stored, expected) => {
    const [, scale] = inScaledForm([entry(at, 'F8_E4M3', 256, 384), entry(`${at}_scale`, 'F32', ...stored)]);
    expect(scale?.shape).toEqual(expected);
  });
});

describe('MXFP4 in two tensors', () => {
  test.each([
    ['quark', '', 'U8'],
    ['compressed-tensors', '_packed', 'U8'],
    ['who names the type of exponents', '_packed', 'F8_E8M0'],
  ])('of %s becomes blocks', (_, suffix, dtype) => {
    const scale = entry(`${at}_scale`, dtype, 256, 12);
    expect(inScaledForm([entry(at + suffix, 'U8', 256, 192), scale])).toEqual([
      { name: at, dtype: 'MXFP4', shape: [256, 384], bytes: 256 * 12 * 17, fused: 'blocks', scaledBy: scale },
    ]);
  });

  test('is not what has a scale of the whole tensor: NVFP4', () => {
    const tensors = [
      entry(at, 'U8', 256, 192),
      entry(`${at}_scale`, 'F8_E8M0', 256, 24),
      entry(`${at}_scale_2`, 'F32'),
    ];
    expect(inScaledForm(tensors)).toEqual(tensors);
  });

  test.each([
    ['other groups', [256, 192], [256, 24], 'UnsupportedQuantization', 'takes [256, 12] in MXFP4'],
    ['columns that blocks do not divide', [256, 8], [256, 1], 'CheckpointCorrupt', 'has 16 columns'],
  ])('is refused with %s', (_, codes, scales, reason, problem) => {
    const failure = thrownBy(FailureError, () => {
      inScaledForm([entry(at, 'U8', ...codes), entry(`${at}_scale`, 'U8', ...scales)]);
    });
    expect(failure.reason).toBe(reason);
    expect(failure.message).toContain(problem);
  });
});
