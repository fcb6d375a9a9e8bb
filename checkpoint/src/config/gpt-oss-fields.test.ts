import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { gptOssConfig, mixtralConfig } from './config.fixture.js';
import { parseCheckpointConfig } from './read-config.js';

describe('a config of gpt-oss', () => {
  test('has biases, sinks, clamped gates, a window in every second layer, and YaRN over the context that it states', () => {
    const shape = parseCheckpointConfig(gptOssConfig);
    expect(shape).toMatchObject({
      ...{ architecture: 'gpt_oss', hidden: 2880, heads: 64, kvHeads: 8, headDim: 64, ffn: 0 },
      ...{ qkvBias: true, outputBias: true, mlpBias: false, attentionSinks: true, quantization: 'mxfp4' },
      ...{ theta: 150000, rotaryDim: 64, maxPositionEmbeddings: 131072, normEpsilon: 1e-5 },
      scaling: { type: 'yarn', factor: 32, originalMaxPositions: 4096, truncate: false },
      moe: {
        ...{ experts: 32, topK: 4, ffn: 2880, sharedFfn: 0, normalized: true, biases: true },
        clampedSwiglu: { limit: 7, alpha: 1.702 },
      },
    });
    expect(shape.scaling).toHaveProperty('attentionFactor', expect.closeTo(1.3466, 4));
    expect(shape.windows.slice(0, 4)).toEqual([128, 0, 128, 0]);
  });

  test('has what it leaves out as transformers has it', () => {
    const whole = parseCheckpointConfig(gptOssConfig);
    const left = new Set([
      ...['attention_bias', 'head_dim', 'layer_types', 'max_position_embeddings', 'rms_norm_eps'],
      ...['rope_scaling', 'rope_theta', 'sliding_window', 'swiglu_limit'],
    ]);
    const terse = Object.fromEntries(Object.entries(gptOssConfig).filter(([field]) => !left.has(field)));
    expect(parseCheckpointConfig(terse)).toEqual(whole);
    const { rope_scaling, ...renamed } = gptOssConfig;
    expect(parseCheckpointConfig({ ...renamed, rope_parameters: rope_scaling })).toEqual(whole);
    expect(parseCheckpointConfig({ ...gptOssConfig, swiglu_limit: 5, swiglu_alpha: 1.5 }).moe).toMatchObject({
      clampedSwiglu: { limit: 5, alpha: 1.5 },
    });
  });

  test.each([
    ['a limit of nothing', { swiglu_limit: 0 }, 'swiglu_limit must be a positive number, found 0'],
    ['a limit in words', { swiglu_limit: 'seven' }, 'swiglu_limit must be a number, found "seven"'],
    ['another activation', { hidden_act: 'gelu' }, 'hidden_act "gelu" is not supported, only silu'],
    ['layers of another kind', { layer_types: Array(24).fill('linear_attention') }, 'linear_attention'],
    ['fewer kinds than layers', { layer_types: [] }, 'layer_types must list num_hidden_layers = 24 entries'],
    ['more experts to a row than there are', { num_experts_per_tok: 33 }, 'num_experts_per_tok'],
  ])('is refused with %s', (_what, fields, problem) => {
    const failure = thrownBy(FailureError, () => parseCheckpointConfig({ ...gptOssConfig, ...fields }));
    expect(failure.message).toContain(problem);
  });

  test('alone has MXFP4', () => {
    const { quantization_config } = gptOssConfig;
    const failure = thrownBy(FailureError, () =>
      parseCheckpointConfig({ ...mixtralConfig, quantization_config }),
    );
    expect(failure.message).toContain('quant_method "mxfp4" for model_type "mixtral"');
  });
});
