import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { checkLoadQuantization, isQuantizedAtLoad, parseQuantization } from './quantization.js';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';

function compressed(...weights: object[]): object {
  const groups = weights.map((each, i) => [`group_${String(i)}`, { targets: ['Linear'], weights: each }]);
  return { quant_method: 'compressed-tensors', config_groups: Object.fromEntries(groups) as object };
}

const fp8 = (strategy: string) => ({ num_bits: 8, type: 'float', strategy, symmetric: true });
const int8 = { num_bits: 8, type: 'int', strategy: 'channel', symmetric: true };
const nvfp4 = { num_bits: 4, type: 'float', strategy: 'tensor_group', group_size: 16 };

function mixed(...algorithms: string[]): object {
  const layers = algorithms.map((each, i) => [`layer_${String(i)}`, { quant_algo: each }]);
  const quantized_layers = Object.fromEntries(layers) as object;
  return { quant_method: 'modelopt', quant_algo: 'MIXED_PRECISION', quantized_layers };
}

const quark = (weight: object | null, more: object = {}): object => ({
  quant_method: 'quark',
  global_quant_config: { weight, input_tensors: { dtype: 'fp8_e4m3', is_dynamic: false } },
  layer_quant_config: {},
  exclude: ['lm_head'],
  export: { kv_cache_group: ['*k_proj', '*v_proj'], pack_method: 'reorder', weight_format: 'real_quantized' },
  ...more,
});
const quarkFp8 = { dtype: 'fp8_e4m3', qscheme: 'per_tensor', ch_axis: null, is_dynamic: false };
const quarkMxfp4 = { dtype: 'fp4', qscheme: 'per_group', group_size: 32, scale_format: 'e8m0' };
const quarkLayer = (weight: object): object => ({ layer_quant_config: { '*mlp.*': { weight } } });

const failureOf = (act: () => unknown): FailureError => thrownBy(FailureError, act);

describe('parseQuantization', () => {
  test.each([
    ['nothing declared', undefined, 'none'],
    ['fp8 by block', { quant_method: 'fp8', fmt: 'e4m3', weight_block_size: [128, 128] }, 'fp8'],
    ['fp8 with scales in powers of two', { quant_method: 'fp8', scale_fmt: 'ue8m0' }, 'fp8'],
    ['fp8 by tensor', { quant_method: 'fp8', activation_scheme: 'static' }, 'fp8'],
    ['compressed-tensors by channel', compressed(fp8('channel')), 'fp8'],
    ['compressed-tensors by block', compressed({ ...fp8('block'), block_structure: [128, 128] }), 'fp8'],
    ['compressed-tensors in NVFP4', compressed(nvfp4), 'nvfp4'],
    ['compressed-tensors in both', compressed(fp8('tensor'), nvfp4), 'nvfp4'],
    ['gptq', { quant_method: 'gptq', bits: 4 }, 'integers'],
    ['awq', { quant_method: 'awq', bits: 4 }, 'integers'],
    ['integers and FP8', { ...compressed(fp8('tensor'), int8), format: 'mixed-precision' }, 'integers'],
    ['modelopt in FP8', { quant_method: 'modelopt', quant_algo: 'FP8' }, 'fp8'],
    ['modelopt in NVFP4', { quant_method: 'modelopt_fp4', quant_algo: 'NVFP4' }, 'nvfp4'],
    ['modelopt in both', mixed('FP8', 'W4A16_NVFP4'), 'nvfp4'],
    ['modelopt in FP8, layer by layer', mixed('FP8', 'FP8'), 'fp8'],
    ['fp8 of AMD', { quant_method: 'fp8', fmt: 'e4m3fnuz' }, 'fp8'],
    ['compressed-tensors in MXFP4', compressed({ ...nvfp4, strategy: 'group', group_size: 32 }), 'mxfp4'],
    ['quark by tensor', quark(quarkFp8), 'fp8'],
    ['quark by row', quark({ ...quarkFp8, qscheme: 'per_channel', ch_axis: 0 }), 'fp8'],
    ['quark in MXFP4', quark(quarkMxfp4), 'mxfp4'],
    ['quark in both', quark(quarkFp8, quarkLayer(quarkMxfp4)), 'mxfp4'],
    ['quark of activations alone', quark(null), 'none'],
  ])('%s', (_name, quantization_config, expected) => {
    expect(parseQuantization({ quantization_config })).toBe(expected);
  });

  test.each([
    ['an unknown tool', { quant_method: 'hqq' }, '"hqq"'],
    ['no tool', {}, 'quant_method none'],
    ['fp8 in e5m2', { quant_method: 'fp8', fmt: 'e5m2' }, '"e5m2"'],
    ['fp8 with other scales', { quant_method: 'fp8', scale_fmt: 'ue4m3' }, 'scale_fmt "ue4m3"'],
    ['fp8 in blocks of 64', { quant_method: 'fp8', weight_block_size: [64, 64] }, '[64,64]'],
    ['MXFP4 of an architecture that stores it in no known way', { quant_method: 'mxfp4' }, '"mxfp4"'],
    ['MXFP4 groups of 32', compressed(fp8('tensor'), { ...nvfp4, group_size: 32 }), 'config_groups.group_1'],
    ['a group without weights', compressed(undefined as unknown as object), 'weights none'],
    ['modelopt in INT4', { quant_method: 'modelopt', quant_algo: 'W4A16_AWQ' }, 'W4A16_AWQ'],
    ['one layer of modelopt in INT4', mixed('FP8', 'W4A16_AWQ'), 'quantized_layers.layer_1 with quant_algo'],
    [
      'quark in INT4',
      quark({ dtype: 'int4', qscheme: 'per_group' }),
      'global_quant_config has weights {"dtype":"int4"',
    ],
    ['quark by column', quark({ ...quarkFp8, qscheme: 'per_channel', ch_axis: 1 }), '"ch_axis":1'],
    ['quark in two steps', quark([quarkMxfp4, quarkFp8]), 'global_quant_config has weights [{"dtype":"fp4"'],
    [
      'one layer of quark in INT8',
      quark(quarkFp8, quarkLayer({ dtype: 'int8', qscheme: 'per_tensor' })),
      'layer_quant_config.*mlp.* has weights',
    ],
    [
      'quark that rotates',
      quark(quarkFp8, { algo_config: [{ name: 'rotation', r3: true }] }),
      'rotates activations',
    ],
    ['a mix of nothing', { quant_method: 'modelopt', quant_algo: 'MIXED_PRECISION' }, 'MIXED_PRECISION'],
  ])('refuses %s', (_name, quantization_config, part) => {
    const failure = failureOf(() => parseQuantization({ quantization_config }));
    expect(failure.reason).toBe('UnsupportedQuantization');
    expect(failure.message).toContain(part);
    expect(failure.message).toContain('supported: ');
  });
});

describe('quantization at load', () => {
  test('is refused for a checkpoint in another format, and is nothing to do for one in the same', () => {
    checkLoadQuantization('none', 'int8');
    checkLoadQuantization('fp8', 'fp8');
    checkLoadQuantization('nvfp4', 'none');
    for (const [stored, wanted] of [
      ['fp8', 'int8'],
      ['nvfp4', 'fp8'],
    ] as const) {
      const failure = failureOf(() => {
        checkLoadQuantization(stored, wanted);
      });
      expect(failure.reason).toBe('InvalidEngineConfig');
      expect(failure.message).toContain(stored);
    }
  });

  test('takes projections, and leaves tables, routers and gate inputs', () => {
    expect(isQuantizedAtLoad('model.layers.0.mlp.gate_proj')).toBe(true);
    expect(isQuantizedAtLoad('model.layers.0.mlp.gate')).toBe(false);
    expect(isQuantizedAtLoad('lm_head')).toBe(false);
  });
});
