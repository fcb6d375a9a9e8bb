// What of a config.json is refused, by which reason, and what the message names.

import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { supportedModelTypes } from './architectures.js';
import { llamaConfig as llama, qwen3MoeConfig } from './config.fixture.js';
import { parseCheckpointConfig } from './read-config.js';

const failureOf = (source: string | object): FailureError =>
  thrownBy(FailureError, () => parseCheckpointConfig(source));

describe('parseCheckpointConfig', () => {
  test.each([
    [
      'an unknown model_type',
      { ...llama, model_type: 'gpt_neox' },
      'UnsupportedArchitecture',
      `"gpt_neox" is not supported; supported: ${supportedModelTypes.join(', ')}`,
    ],
    [
      'a rotary scaling that is not there',
      { ...llama, rope_scaling: { type: 'longrope' } },
      'UnsupportedArchitecture',
      '"longrope" is not supported; supported: default, linear, llama3, yarn',
    ],
    [
      'a window where the architecture has none',
      { ...llama, use_sliding_window: true, sliding_window: 64 },
      'UnsupportedArchitecture',
      'use_sliding_window is true, which is not supported for llama',
    ],
    [
      'sliding layers without a window',
      {
        ...llama,
        model_type: 'qwen3',
        num_key_value_heads: 2,
        layer_types: ['full_attention', 'sliding_attention'],
      },
      'CheckpointCorrupt',
      'use_sliding_window is not true',
    ],
    [
      'more experts per token than there are',
      { ...qwen3MoeConfig, num_experts_per_tok: 129 },
      'CheckpointCorrupt',
      'num_experts_per_tok',
    ],
    [
      'experts without a number',
      { ...qwen3MoeConfig, num_experts: null },
      'CheckpointCorrupt',
      'num_experts is',
    ],
    [
      'dense layers without a width',
      { ...qwen3MoeConfig, intermediate_size: null, decoder_sparse_step: 2 },
      'CheckpointCorrupt',
      'intermediate_size is',
    ],
    ['no model_type', { ...llama, model_type: undefined }, 'UnsupportedArchitecture', 'no model_type'],
    [
      'a name from Object.prototype',
      { ...llama, model_type: 'toString' },
      'UnsupportedArchitecture',
      '"toString"',
    ],
    [
      'sliding attention',
      { ...llama, layer_types: ['full_attention', 'sliding_attention'] },
      'UnsupportedArchitecture',
      'sliding_attention',
    ],
    [
      'another tool',
      { ...llama, quantization_config: { quant_method: 'hqq' } },
      'UnsupportedQuantization',
      '"hqq"',
    ],
    [
      'fp8 with other blocks',
      { ...llama, quantization_config: { quant_method: 'fp8', weight_block_size: [64, 64] } },
      'UnsupportedQuantization',
      '[64,64]',
    ],
    ['text that is not JSON', '{"model_type":', 'CheckpointCorrupt', 'not JSON'],
    ['a JSON array', '[]', 'CheckpointCorrupt', 'not a JSON object'],
    [
      'layer_types of the wrong length',
      { ...llama, layer_types: ['full_attention'] },
      'CheckpointCorrupt',
      'layer_types',
    ],
    [
      'more layers than there can be',
      { ...llama, num_hidden_layers: 2 ** 30 },
      'CheckpointCorrupt',
      'num_hidden_layers is 1073741824, beyond 10000',
    ],
    [
      'heads that KV heads do not divide',
      { ...llama, num_key_value_heads: 3 },
      'CheckpointCorrupt',
      'multiple',
    ],
  ])('refuses %s', (_name, source, reason, part) => {
    const failure = failureOf(source);
    expect(failure.reason).toBe(reason);
    expect(failure.message).toContain(part);
  });

  test.each([
    ['an activation', { hidden_act: 'gelu' }, 'UnsupportedArchitecture', 'hidden_act "gelu"'],
    [
      'yarn without a factor that helps',
      { rope_scaling: { type: 'yarn', factor: 0 } },
      'CheckpointCorrupt',
      'factor',
    ],
    ['linear by nothing', { rope_scaling: { type: 'linear' } }, 'CheckpointCorrupt', 'factor is missing'],
    ['a theta below zero', { rope_theta: -1 }, 'CheckpointCorrupt', 'rope_theta must be a positive number'],
    ['an odd share of a head', { partial_rotary_factor: 0.07 }, 'CheckpointCorrupt', 'partial_rotary_factor'],
    [
      'a flag that is none',
      { tie_word_embeddings: 'yes' },
      'CheckpointCorrupt',
      'tie_word_embeddings must be',
    ],
    ['a width beyond 32 bits', { hidden_size: 2 ** 31 }, 'CheckpointCorrupt', 'hidden_size must be'],
    [
      'an epsilon that is text',
      { rms_norm_eps: '1e-6' },
      'CheckpointCorrupt',
      'rms_norm_eps must be a number',
    ],
  ])('refuses %s', (_name, changes, reason, part) => {
    const failure = failureOf({ ...llama, ...changes });
    expect(failure.reason).toBe(reason);
    expect(failure.message).toContain(part);
  });

  test('names every missing field at once', () => {
    const { message } = failureOf({ model_type: 'qwen3', hidden_size: -1 });
    expect(message).toContain('num_hidden_layers is missing');
    expect(message).toContain('vocab_size is missing');
    expect(message).toContain('hidden_size must be a positive integer, found -1');
  });
});
