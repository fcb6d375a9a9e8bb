// What config.json says of the shape of a model, one case for what is special about each architecture.

import { describe, expect, test } from '@jest/globals';
import {
  llamaConfig as llama,
  mixtralConfig,
  qwen35MoeConfig,
  qwen36Config,
  qwen3MoeConfig,
} from './config.fixture.js';
import { parseCheckpointConfig } from './read-config.js';

describe('parseCheckpointConfig', () => {
  test('reads the 27B: nested text_config, 48 GDN and 16 full-attention layers, FP8', () => {
    const shape = parseCheckpointConfig(JSON.stringify(qwen36Config));
    expect(shape).toMatchObject({
      architecture: 'qwen3_5',
      hidden: 5120,
      heads: 24,
      kvHeads: 4,
      headDim: 256,
      ffn: 17408,
      vocab: 248320,
      gdn: { kHeads: 16, vHeads: 48, kDim: 128, vDim: 128, convKernel: 4 },
      quantization: 'fp8',
      tiedEmbeddings: false,
    });
    expect(shape.layerKinds.filter((kind) => kind === 'full')).toHaveLength(16);
    expect(shape.layerKinds.slice(0, 4)).toEqual(['gdn', 'gdn', 'gdn', 'full']);
  });

  test('reads a text-only qwen3_5_text config whose fields stand at the top', () => {
    const shape = parseCheckpointConfig({ ...qwen36Config.text_config, model_type: 'qwen3_5_text' });
    expect(shape).toMatchObject({ architecture: 'qwen3_5', hidden: 5120, quantization: 'none' });
  });

  test('layer_types wins over full_attention_interval', () => {
    const text_config = {
      ...qwen36Config.text_config,
      num_hidden_layers: 2,
      layer_types: ['full_attention', 'linear_attention'],
    };
    expect(parseCheckpointConfig({ ...qwen36Config, text_config }).layerKinds).toEqual(['full', 'gdn']);
  });

  test('llama: KV heads and head_dim have their defaults, no recurrent layers', () => {
    const shape = parseCheckpointConfig(llama);
    expect(shape).toMatchObject({ kvHeads: 4, headDim: 16, gdn: null, quantization: 'none' });
    expect(shape.layerKinds).toEqual(['full', 'full']);
  });

  test('reads the 35B-A3B: a hybrid whose feed-forward layers are all mixtures', () => {
    const shape = parseCheckpointConfig(qwen35MoeConfig);
    expect(shape).toMatchObject({
      architecture: 'qwen3_5_moe',
      ffn: 0,
      moe: { experts: 256, topK: 8, ffn: 512, sharedFfn: 512 },
    });
    expect(shape.layerKinds.filter((kind) => kind === 'gdn')).toHaveLength(30);
    const flat = { ...qwen35MoeConfig.text_config, full_attention_interval: 2 };
    expect(parseCheckpointConfig(flat).layerKinds.filter((kind) => kind === 'gdn')).toHaveLength(20);
  });

  test('reads Mixtral: every layer a mixture of experts as wide as intermediate_size, their weights scaled to one', () => {
    const shape = parseCheckpointConfig(mixtralConfig);
    expect(shape).toMatchObject({
      ...{ architecture: 'mixtral', headDim: 128, ffn: 0, qkNorm: false, qkvBias: false },
      moe: { experts: 8, topK: 2, ffn: 14336, sharedFfn: 0, normalized: true },
    });
    expect(new Set(shape.windows)).toEqual(new Set([0]));
    const { windows } = parseCheckpointConfig({ ...mixtralConfig, sliding_window: 4096 });
    expect(new Set(windows)).toEqual(new Set([4096]));
  });

  test('reads the 30B-A3B: no shared expert, and the dense width only where a layer is dense', () => {
    expect(parseCheckpointConfig(qwen3MoeConfig)).toMatchObject({
      ffn: 0,
      gdn: null,
      moe: { experts: 128, topK: 8, ffn: 768, sharedFfn: 0 },
    });
    for (const dense of [{ mlp_only_layers: [47] }, { decoder_sparse_step: 2 }]) {
      expect(parseCheckpointConfig({ ...qwen3MoeConfig, ...dense }).ffn).toBe(6144);
    }
    expect(parseCheckpointConfig({ ...qwen3MoeConfig, mlp_only_layers: [48] }).ffn).toBe(0);
    const { num_experts: num_local_experts, ...renamed } = qwen3MoeConfig;
    expect(parseCheckpointConfig({ ...renamed, num_local_experts }).moe?.experts).toBe(128);
  });

  test('reads qwen3_next: a hybrid with its fields at the top', () => {
    const shape = parseCheckpointConfig({
      ...qwen35MoeConfig.text_config,
      ...{ model_type: 'qwen3_next', intermediate_size: 5632, num_experts: 512 },
    });
    expect(shape).toMatchObject({
      architecture: 'qwen3_next',
      ffn: 0,
      moe: { experts: 512, sharedFfn: 512 },
    });
    expect(shape.layerKinds.slice(0, 4)).toEqual(['gdn', 'gdn', 'gdn', 'full']);
  });

  test.each([
    ['llama', llama, 16],
    ['qwen3', { ...llama, model_type: 'qwen3', num_key_value_heads: 2 }, 128],
    ['qwen3_moe', { ...qwen3MoeConfig, head_dim: null }, 64],
    ['a hybrid', { ...qwen36Config.text_config, model_type: 'qwen3_5_text', head_dim: null }, 256],
  ])('%s without head_dim has the default of its architecture', (_name, config, headDim) => {
    expect(parseCheckpointConfig(config).headDim).toBe(headDim);
  });

  test('sliding layers keep KV like full ones', () => {
    const window = { use_sliding_window: true, sliding_window: 64 };
    const types = { layer_types: ['full_attention', 'sliding_attention'] };
    const shape = parseCheckpointConfig({
      ...{ ...llama, model_type: 'qwen3', num_key_value_heads: 2 },
      ...window,
      ...types,
    });
    expect(shape.layerKinds).toEqual(['full', 'full']);
  });

  const original = { original_max_position_embeddings: 128 };
  test.each([
    ['no scaling', {}, 512],
    [
      'yarn, beyond what the config states',
      { rope_scaling: { rope_type: 'yarn', factor: 8, ...original } },
      1024,
    ],
    ['yarn, which the config states', { rope_scaling: { type: 'yarn', factor: 4, ...original } }, 512],
    ['yarn whose factor follows from the config', { rope_scaling: { rope_type: 'yarn', ...original } }, 512],
    ['yarn over all that the config states', { rope_parameters: { rope_type: 'yarn', factor: 2.5 } }, 1280],
    ['linear', { rope_scaling: { type: 'linear', factor: 4 } }, 2048],
    [
      'llama3, which the config states',
      { rope_scaling: { rope_type: 'llama3', factor: 8, ...original } },
      512,
    ],
  ])('the context of a rotary embedding with %s', (_name, changes, positions) => {
    expect(parseCheckpointConfig({ ...llama, ...changes }).maxPositionEmbeddings).toBe(positions);
  });

  test.each([
    ['whole heads', llama, 16],
    ['a quarter of a hybrid’s heads', qwen36Config, 64],
    ['a share at the top level', { ...llama, partial_rotary_factor: 0.5 }, 8],
    ['a share in rope_parameters', { ...llama, rope_parameters: { partial_rotary_factor: 0.25 } }, 4],
  ])('the rotary embedding turns %s', (_name, config, features) => {
    expect(parseCheckpointConfig(config).rotaryDim).toBe(features);
  });

  const small = { ...llama, num_hidden_layers: 3, num_key_value_heads: 2, sliding_window: 40 };
  const slides = { use_sliding_window: true };
  test.each([
    ['qwen3, not asked for', { model_type: 'qwen3', max_window_layers: 0 }, [0, 0, 0]],
    [
      'qwen3, from max_window_layers on',
      { model_type: 'qwen3', ...slides, max_window_layers: 2 },
      [0, 0, 40],
    ],
    [
      'qwen2, by layer_types',
      {
        ...{ model_type: 'qwen2', ...slides },
        layer_types: ['sliding_attention', 'full_attention', 'full_attention'],
      },
      [40, 0, 0],
    ],
    ['qwen3, none of few layers', { model_type: 'qwen3', ...slides }, [0, 0, 0]],
    ['qwen3_moe, everywhere', { ...qwen3MoeConfig, num_hidden_layers: 3, ...slides }, [40, 40, 40]],
    ['mistral, without a switch', { model_type: 'mistral' }, [40, 40, 40]],
    ['mistral without a window', { model_type: 'mistral', sliding_window: null }, [0, 0, 0]],
  ])('windows of %s', (_name, changes, windows) => {
    expect(parseCheckpointConfig({ ...small, ...changes }).windows).toEqual(windows);
  });

  test('mistral has no biases, whatever its config says', () => {
    const none = { qkvBias: false, outputBias: false, mlpBias: false, qkNorm: false };
    expect(parseCheckpointConfig({ ...small, model_type: 'mistral', attention_bias: true })).toMatchObject(
      none,
    );
  });

  test('qwen2 has biases of queries, keys and values alone', () => {
    const biases = { qkvBias: true, outputBias: false, mlpBias: false };
    expect(parseCheckpointConfig({ ...small, model_type: 'qwen2' })).toMatchObject(biases);
  });

  test.each([
    ['qwen3_moe', {}, false],
    ['qwen3_moe', { norm_topk_prob: true }, true],
    ['qwen3_next', {}, true],
    ['qwen3_next', { norm_topk_prob: false }, false],
    ['qwen3_5_moe', { norm_topk_prob: false }, true],
  ])('weights of experts of %s with %j are normalized: %s', (model_type, changes, normalized) => {
    const config =
      model_type === 'qwen3_moe' ? qwen3MoeConfig : { ...qwen35MoeConfig.text_config, intermediate_size: 8 };
    expect(parseCheckpointConfig({ ...config, model_type, ...changes }).moe?.normalized).toBe(normalized);
  });

  test('yarn has the temperature of its factor, or that of its two scales', () => {
    const yarn = (fields: object) =>
      parseCheckpointConfig({ ...llama, rope_parameters: { rope_type: 'yarn', ...fields } }).scaling;
    expect(yarn({ factor: 4, original_max_position_embeddings: 64 })).toEqual({
      ...{ type: 'yarn', factor: 4, originalMaxPositions: 64, betaFast: 32, betaSlow: 1, truncate: true },
      attentionFactor: expect.closeTo(1.138629436, 6) as unknown,
    });
    expect(yarn({ factor: 40, mscale: 1, mscale_all_dim: 0.707 })).toMatchObject({
      attentionFactor: expect.closeTo(1.085726399, 6) as unknown,
    });
    expect(yarn({ original_max_position_embeddings: 128 })).toMatchObject({ factor: 4 });
  });
});
