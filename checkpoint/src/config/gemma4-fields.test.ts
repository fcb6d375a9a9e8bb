import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { gemma4MoeConfig } from './config.fixture.js';
import { ofLayer } from './layer-attention.js';
import { parseCheckpointConfig } from './read-config.js';

const text = gemma4MoeConfig.text_config;
const dense = { ...text, enable_moe_block: false };

describe('a config of Gemma 4', () => {
  test('has other heads in each sixth layer, which rotate a quarter of their frequencies', () => {
    const shape = parseCheckpointConfig(gemma4MoeConfig);
    expect(shape).toMatchObject({
      ...{ architecture: 'gemma4_moe', heads: 16, kvHeads: 8, headDim: 256, ffn: 0, tiedEmbeddings: true },
      ...{ qkNorm: true, valueNorm: true, layerScalars: true, unitOffsetNorm: false, postNorms: true },
      ...{
        activation: 'gelu',
        queryScalar: 1,
        logitCap: 30,
        embeddingScale: 53,
        maxPositionEmbeddings: 262144,
      },
      globalAttention: { kvHeads: 2, headDim: 512, keysAreValues: true },
      ...{ theta: 1e6, rotaryDim: 512, scaling: { type: 'proportional', factor: 1, angles: 64 } },
      windowRope: { theta: 10000, rotaryDim: 256, scaling: { type: 'none' } },
      moe: {
        ...{ experts: 128, topK: 8, ffn: 704, sharedFfn: 2112, sharedGate: false, normalized: true },
        ...{ ownNorms: true, sigmoid: null },
      },
    });
    expect(shape.windows.slice(0, 7)).toEqual([1024, 1024, 1024, 1024, 1024, 0, 1024]);
    expect(ofLayer(shape, 4)).toMatchObject({ kvHeads: 8, headDim: 256, keysAreValues: false });
    expect(ofLayer(shape, 5)).toMatchObject({ kvHeads: 2, headDim: 512, keysAreValues: true });
  });

  test('is dense without enable_moe_block, and its last layer has no window', () => {
    const shape = parseCheckpointConfig({ ...dense, num_hidden_layers: 8 });
    expect(shape).toMatchObject({ architecture: 'gemma4', ffn: 2112, moe: null });
    expect(shape.windows).toEqual([1024, 1024, 1024, 1024, 1024, 0, 1024, 0]);
  });

  test('keeps the number of KV heads where keys are no values', () => {
    expect(parseCheckpointConfig({ ...dense, attention_k_eq_v: false }).globalAttention).toEqual({
      ...{ kvHeads: 8, headDim: 512, keysAreValues: false },
    });
  });

  test('may have been saved by transformers, which names the heads of each layer', () => {
    const unnamed = { global_head_dim: null, num_global_key_value_heads: null };
    const own = { head_dim: 512, num_key_value_heads: 2 };
    const saved = { ...dense, ...unnamed, num_hidden_layers: 12, per_layer_config: { '05': own, '11': own } };
    expect(parseCheckpointConfig(saved)).toEqual(parseCheckpointConfig({ ...dense, num_hidden_layers: 12 }));
  });

  test.each([
    ['embeddings of each layer', { hidden_size_per_layer_input: 256 }, 'hidden_size_per_layer_input is 256'],
    ['shared keys and values', { num_kv_shared_layers: 18 }, 'num_kv_shared_layers is 18: .*; what works: 0'],
    ['biases', { attention_bias: true }, 'attention_bias is true'],
    [
      'attention to both sides',
      { use_bidirectional_attention: 'all' },
      'use_bidirectional_attention is "all"',
    ],
    [
      'heads that differ among layers without a window',
      { per_layer_config: { '5': { head_dim: 512 }, '11': { head_dim: 128 } } },
      'per_layer_config is .* one for all layers without a window \\(5, 11, 17, 23, 29\\)',
    ],
    [
      'another field of a layer',
      {
        ...{ num_hidden_layers: 6, layer_types: null },
        per_layer_config: { '5': { head_dim: 512, sliding_window: 4096 } },
      },
      'per_layer_config.5 has sliding_window; what layers may have of their own: head_dim, num_key_value_heads',
    ],
    [
      'a part of a head that rotates otherwise',
      { rope_parameters: { full_attention: { rope_type: 'default', partial_rotary_factor: 0.25 } } },
      'partial_rotary_factor with rope_type "default"',
    ],
    ['KV heads that divide nothing', { num_global_key_value_heads: 3 }, 'num_global_key_value_heads'],
    ['too many experts chosen', { top_k_experts: 129 }, 'top_k_experts must not be more than num_experts'],
  ])('is refused with %s', (_, fields, problem) => {
    const failure = thrownBy(FailureError, () => parseCheckpointConfig({ ...text, ...fields }));
    expect(failure.message).toMatch(new RegExp(problem));
  });
});
