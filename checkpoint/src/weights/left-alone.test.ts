import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { checkLeftAlone } from './left-alone.js';

const fp8 = (name: string) => ({ name, dtype: 'F8_E4M3', shape: [128, 128], bytes: 16384 });
const check = (quantization_config: object, module: string): void => {
  checkLeftAlone({ quantization_config }, [fp8(`${module}.weight`)]);
};

describe('modules that config.json lists as not quantized', () => {
  test.each([
    [
      'fp8 by the ends of names',
      { quant_method: 'fp8', ignored_layers: ['mlp.gate', 'lm_head'] },
      ['model.layers.3.mlp.gate', 'lm_head'],
      ['model.layers.3.mlp.gate_proj', 'model.layers.3.mlp.up_proj'],
    ],
    [
      'fp8 by names with another wrapper',
      {
        quant_method: 'fp8',
        modules_to_not_convert: ['model.language_model.layers.1.linear_attn.in_proj_a', 'lm_head'],
      },
      ['model.layers.1.linear_attn.in_proj_a', 'lm_head'],
      ['model.layers.1.linear_attn.in_proj_ab', 'model.layers.11.linear_attn.in_proj_a'],
    ],
    [
      'compressed-tensors by expressions from the beginning',
      { quant_method: 'compressed-tensors', ignore: ['re:.*in_proj_[ab]$', 're:lm_'] },
      ['model.layers.0.linear_attn.in_proj_a', 'lm_head'],
      ['model.layers.0.linear_attn.in_proj_z', 'model.layers.0.in_proj_a.x', 'x.lm_head'],
    ],
    [
      'gptq by rules',
      { quant_method: 'gptq', dynamic: { '-:.*q_proj': {} } },
      ['model.layers.0.self_attn.q_proj'],
      ['model.layers.0.self_attn.k_proj'],
    ],
    [
      'gptq by the others',
      { quant_method: 'gptq', modules_in_block_to_quantize: [['self_attn.q_proj'], ['mlp.up_proj']] },
      ['model.layers.0.mlp.down_proj'],
      ['model.layers.0.self_attn.q_proj', 'model.layers.1.mlp.up_proj'],
    ],
    [
      'awq by the ends of names',
      { quant_method: 'awq', modules_to_not_convert: ['mlp.gate'] },
      ['model.layers.0.mlp.gate'],
      ['model.layers.0.mlp.gate_proj'],
    ],
    [
      'modelopt by names with stars',
      { quant_method: 'modelopt', quant_algo: 'FP8', ignore: ['lm_head', '*.layers.1.*'] },
      ['lm_head', 'model.layers.1.mlp.up_proj'],
      ['model.layers.11.mlp.up_proj'],
    ],
    [
      'quark by names and stars',
      { quant_method: 'quark', exclude: ['lm_head', '*.gate'] },
      ['lm_head', 'model.layers.0.mlp.gate'],
      ['model.layers.0.mlp.gate_proj'],
    ],
    [
      'mxfp4 by names with stars',
      { quant_method: 'mxfp4', modules_to_not_convert: ['model.layers.*.mlp.router', 'lm_head'] },
      ['model.layers.3.mlp.router', 'lm_head'],
      ['model.layers.3.mlp.up_proj'],
    ],
  ])('%s', (_name, quantization, listed, others) => {
    for (const module of listed) {
      const { reason, message } = thrownBy(FailureError, () => {
        check(quantization, module);
      });
      expect(reason).toBe('CheckpointCorrupt');
      expect(message).toContain(`lists ${module} in `);
    }
    for (const module of others) check(quantization, module);
  });

  test('codes of AMD are quantized too', () => {
    const config = { quantization_config: { quant_method: 'quark', exclude: ['lm_head'] } };
    expect(() => {
      checkLeftAlone(config, [{ ...fp8('lm_head.weight'), dtype: 'F8_E4M3FNUZ' }]);
    }).toThrow('tensor lm_head.weight is F8_E4M3FNUZ');
  });

  test('what is stored as it was may be listed or not, and packed names and stacks are modules too', () => {
    const config = {
      quantization_config: { quant_method: 'compressed-tensors', ignore: ['re:.*down_proj'] },
    };
    checkLeftAlone(config, [{ ...fp8('model.layers.0.mlp.down_proj.weight'), dtype: 'BF16' }]);
    for (const name of [
      'model.layers.0.mlp.down_proj.weight_packed',
      'model.layers.0.mlp.experts.down_proj',
    ]) {
      expect(
        thrownBy(FailureError, () => {
          checkLeftAlone(config, [{ ...fp8(name), dtype: 'U8' }]);
        }).message,
      ).toContain(name);
    }
    expect(() => {
      checkLeftAlone(config, [{ ...fp8('model.layers.0.mlp.down_proj.weight_packed'), dtype: 'I32' }]);
    }).toThrow('weight_packed');
    checkLeftAlone(config, [fp8('model.visual.down_proj.weight'), fp8('mtp.layers.0.mlp.down_proj.weight')]);
  });

  test.each([
    [{ quant_method: 'compressed-tensors', ignore: ['re:(head'] }, 're:(head'],
    [{ quant_method: 'compressed-tensors', ignore: 'lm_head' }, 'is not a list'],
    [{ quant_method: 'fp8', ignored_layers: [3] }, 'not a string'],
  ])('%j is refused', (quantization, part) => {
    const { message } = thrownBy(FailureError, () => {
      check(quantization, 'x');
    });
    expect(message).toContain(part);
  });
});
