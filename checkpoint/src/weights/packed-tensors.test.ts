import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { joinPacked } from './packed-tensors.js';

const tensor = (name: string, dtype: string, ...shape: number[]): TensorEntry => ({
  name,
  dtype,
  shape,
  bytes: 0,
});
const module = 'model.layers.0.self_attn.q_proj';

const gptq = { quantization_config: { quant_method: 'gptq', bits: 4, group_size: 64 } };
/** A matrix of 96 outputs by 128 columns. */
const gptqParts = [
  tensor(`${module}.qweight`, 'I32', 16, 96),
  tensor(`${module}.qzeros`, 'I32', 2, 12),
  tensor(`${module}.scales`, 'F16', 2, 96),
  tensor(`${module}.g_idx`, 'I32', 128),
];
const awq = { quantization_config: { quant_method: 'awq', bits: 4, group_size: 64 } };
const awqParts = [
  tensor(`${module}.qweight`, 'I32', 128, 12),
  tensor(`${module}.qzeros`, 'I32', 2, 12),
  tensor(`${module}.scales`, 'F16', 2, 96),
];
const weights = { num_bits: 4, type: 'int', strategy: 'group', group_size: 64, symmetric: false };
const compressed = (changed: object = {}, targets: readonly string[] = ['Linear']) => ({
  quantization_config: {
    quant_method: 'compressed-tensors',
    format: 'pack-quantized',
    config_groups: { group_0: { targets, weights: { ...weights, ...changed } } },
  },
});
const compressedParts = [
  tensor(`${module}.weight_packed`, 'I32', 96, 16),
  tensor(`${module}.weight_scale`, 'BF16', 96, 2),
  tensor(`${module}.weight_zero_point`, 'I32', 12, 2),
  tensor(`${module}.weight_shape`, 'I64', 2),
];
const norm = tensor('model.norm.weight', 'BF16', 128);

describe('packed integers become one matrix in blocks', () => {
  test.each([
    ['gptq', gptq, gptqParts, 'INT4', 'columns'],
    ['awq', awq, awqParts, 'INT4', 'interleaved'],
    ['compressed-tensors', compressed(), compressedParts, 'INT4', 'rows'],
    [
      'bytes of compressed-tensors, in groups',
      compressed({ num_bits: 8, symmetric: true }),
      [tensor(`${module}.weight`, 'I8', 96, 128), tensor(`${module}.weight_scale`, 'BF16', 96, 2)],
      'INT8',
      'bytes',
    ],
  ])('of %s', (_name, config, parts, dtype, layout) => {
    const [first, whole, ...others] = joinPacked(config, [norm, ...parts]);
    expect([first, others]).toEqual([norm, []]);
    const bytes = (96 * 128 * (dtype === 'INT4' ? 20 : 36)) / 32;
    expect(whole).toMatchObject({
      name: `${module}.weight`,
      dtype,
      shape: [96, 128],
      bytes,
      packed: { layout },
    });
  });

  test('but bytes with one scale per row, which stay as they are', () => {
    const config = compressed({ num_bits: 8, strategy: 'channel', symmetric: true });
    const codes = tensor(`${module}.weight`, 'I8', 96, 128);
    const scales = tensor(`${module}.weight_scale`, 'BF16', 96, 1);
    expect(joinPacked(config, [codes, scales])).toEqual([scales, codes]);
    const refusal = (parts: readonly TensorEntry[]) =>
      thrownBy(FailureError, () => joinPacked(config, parts)).message;
    expect(refusal([codes])).toContain(`no tensor ${module}.weight_scale`);
    const zeros = tensor(`${module}.weight_zero_point`, 'I8', 96, 1);
    expect(refusal([codes, scales, zeros])).toContain('weight_zero_point is there although');
  });

  test('and each of the group that targets it', () => {
    const byName = compressed({}, ['re:.*q_proj$']);
    const groups = {
      group_0: { targets: ['Linear'], weights: { ...weights, num_bits: 8 } },
      ...{ group_1: byName.quantization_config.config_groups.group_0 },
    };
    const config = { quantization_config: { ...byName.quantization_config, config_groups: groups } };
    expect(joinPacked(config, compressedParts)).toMatchObject([{ dtype: 'INT4', shape: [96, 128] }]);
  });

  test('nothing is done to other checkpoints', () => {
    expect(joinPacked({}, [norm])).toEqual([norm]);
  });
});

const replaced = (parts: readonly TensorEntry[], other: TensorEntry): TensorEntry[] =>
  parts.map((part) => (part.name === other.name ? other : part));
const without = (parts: readonly TensorEntry[], suffix: string): TensorEntry[] =>
  parts.filter(({ name }) => !name.endsWith(suffix));

describe('what does not fit is refused', () => {
  test.each<[string, object, TensorEntry[], string, string]>([
    ['no scales', gptq, without(gptqParts, '.scales'), 'CheckpointIncomplete', `no tensor ${module}.scales`],
    [
      'no zero points',
      awq,
      without(awqParts, '.qzeros'),
      'CheckpointIncomplete',
      `no tensor ${module}.qzeros`,
    ],
    [
      'scales of other groups',
      gptq,
      replaced(gptqParts, tensor(`${module}.scales`, 'F16', 4, 96)),
      'UnsupportedQuantization',
      `${module}.scales has shape [4, 96] where ${module}.qweight of shape [16, 96] takes [2, 96]`,
    ],
    [
      'zero points of other outputs',
      gptq,
      replaced(gptqParts, tensor(`${module}.qzeros`, 'I32', 2, 13)),
      'UnsupportedQuantization',
      'has shape [2, 13]',
    ],
    [
      'groups of other columns',
      gptq,
      replaced(gptqParts, tensor(`${module}.g_idx`, 'I32', 127)),
      'UnsupportedQuantization',
      'takes [128]',
    ],
    [
      'groups in floats',
      gptq,
      replaced(gptqParts, tensor(`${module}.g_idx`, 'F32', 128)),
      'UnsupportedQuantization',
      'groups of columns are I32',
    ],
    [
      'scales in F32',
      gptq,
      replaced(gptqParts, tensor(`${module}.scales`, 'F32', 2, 96)),
      'UnsupportedQuantization',
      'has type F32; scales of packed integers are F16 or BF16',
    ],
    [
      'words of another type',
      gptq,
      replaced(gptqParts, tensor(`${module}.qweight`, 'I64', 16, 96)),
      'UnsupportedQuantization',
      'has type I64',
    ],
    [
      'columns that no blocks make up',
      gptq,
      replaced(gptqParts, tensor(`${module}.qweight`, 'I32', 15, 96)),
      'UnsupportedQuantization',
      'shape [96, 120]; columns must be a multiple of 32',
    ],
    [
      'zero points of symmetric weights',
      compressed({ symmetric: true }),
      compressedParts,
      'CheckpointCorrupt',
      'weight_zero_point is there although',
    ],
    [
      'a matrix of no group',
      compressed({}, ['re:.*k_proj']),
      compressedParts,
      'CheckpointCorrupt',
      'no group',
    ],
    [
      'no order of columns',
      { quantization_config: { ...gptq.quantization_config, desc_act: true } },
      without(gptqParts, '.g_idx'),
      'CheckpointIncomplete',
      `no tensor ${module}.g_idx`,
    ],
    ['no integers at all', gptq, [norm], 'CheckpointCorrupt', 'no tensor is of packed integers'],
  ])('%s', (_name, config, parts, reason, message) => {
    const failure = thrownBy(FailureError, () => joinPacked(config as Record<string, unknown>, parts));
    expect(failure.reason).toBe(reason);
    expect(failure.message).toContain(message);
  });
});
