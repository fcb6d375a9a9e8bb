import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { parsePacking } from './packed-integers.js';

const gptq = { quant_method: 'gptq', bits: 4, group_size: 128, desc_act: false, sym: true };
const awq = { quant_method: 'awq', bits: 4, group_size: 128, zero_point: true, version: 'gemm' };
const integers = { num_bits: 4, type: 'int', strategy: 'group', group_size: 32, symmetric: true };
const compressed = (weights: object, format = 'pack-quantized', targets = ['Linear']) => ({
  quant_method: 'compressed-tensors',
  format,
  config_groups: { group_0: { targets, weights } },
});

describe('parsePacking', () => {
  test.each([
    ['gptq', gptq, { bits: 4, groupColumns: 128, hasZeros: true }, 1],
    ['gptq of the second format', { ...gptq, checkpoint_format: 'gptq_v2' }, { groupColumns: 128 }, 0],
    ['gptq in 8 bits by output', { ...gptq, bits: 8, group_size: -1 }, { bits: 8, groupColumns: null }, 1],
    ['gptq that leaves modules alone', { ...gptq, dynamic: { '-:.*down': {} } }, { bits: 4 }, 1],
    ['gptq in another order of columns', { ...gptq, desc_act: true }, { bits: 4, reordered: true }, 1],
    ['awq', { ...awq, version: 'GEMM' }, { bits: 4, groupColumns: 128, hasZeros: true }, 0],
    [
      'compressed-tensors in groups',
      compressed(integers),
      { targets: null, groupColumns: 32, hasZeros: false },
      0,
    ],
    [
      'compressed-tensors by output with zero points',
      compressed({ ...integers, num_bits: 8, strategy: 'channel', symmetric: false }, 'int-quantized', [
        're:.*down',
      ]),
      { targets: ['re:.*down'], bits: 8, groupColumns: null, hasZeros: true },
      0,
    ],
    [
      'integers in the order of their columns',
      compressed({ ...integers, actorder: 'static' }),
      { bits: 4 },
      0,
    ],
  ])('%s', (_name, config, group, zeroOffset) => {
    const packing = parsePacking(config);
    expect(packing).toMatchObject({ groups: [group], zeroOffset });
  });

  test('other tools pack nothing', () => {
    expect(parsePacking({ quant_method: 'fp8' })).toBeNull();
    expect(parsePacking(compressed({ num_bits: 8, type: 'float' }))).toBeNull();
  });

  test.each([
    ['three bits', { ...gptq, bits: 3 }, 'bits 3; supported: 4, 8'],
    ['two bits', { ...gptq, bits: 2 }, 'bits 2'],
    ['groups of 16', { ...gptq, group_size: 16 }, 'group_size 16; supported: -1 and multiples of 32'],
    [
      'one group of another order',
      { ...gptq, desc_act: true, group_size: -1 },
      'desc_act true and group_size -1',
    ],
    ['a head in integers', { ...gptq, lm_head: true }, 'lm_head true'],
    ['words of 16 bits', { ...gptq, pack_dtype: 'int16' }, 'pack_dtype "int16"'],
    ['the order of Marlin', { ...gptq, checkpoint_format: 'marlin' }, 'checkpoint_format "marlin"'],
    ['marked as Marlin', { ...gptq, is_marlin_format: true }, 'is_marlin_format true'],
    ['rules that quantize otherwise', { ...gptq, dynamic: { '+:.*down': { bits: 8 } } }, '"+:.*down"'],
    ['awq in 8 bits', { ...awq, bits: 8 }, 'bits 8; supported: 4'],
    ['awq for gemv', { ...awq, version: 'gemv' }, 'version "gemv"; supported: gemm'],
    ['awq for exllama', { ...awq, version: 'exllama' }, 'version "exllama"'],
    ['awq without zero points', { ...awq, zero_point: false }, 'zero_point false'],
    [
      'integers in six bits',
      compressed({ ...integers, num_bits: 6 }),
      'config_groups.group_0 has integers with num_bits 6',
    ],
    ['integers by tensor', compressed({ ...integers, strategy: 'tensor' }), 'strategy "tensor"'],
    ['integers for Marlin', compressed(integers, 'marlin-24'), 'format "marlin-24"'],
  ])('refuses %s', (_name, config, part) => {
    const failure = thrownBy(FailureError, () => parsePacking(config));
    expect(failure.message).toContain(part);
    expect(failure.reason).toBe('UnsupportedQuantization');
  });
});
