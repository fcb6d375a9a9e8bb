import { describe, expect, test } from '@jest/globals';
import { parseCheckpointConfig } from './checkpoint.js';
import { FailureError, type FailureReason } from './failures.js';
import { qwen36Config } from './checkpoint.fixture.js';

const llama = {
  model_type: 'llama',
  num_hidden_layers: 2,
  hidden_size: 64,
  num_attention_heads: 4,
  intermediate_size: 128,
  vocab_size: 256,
  max_position_embeddings: 512,
};

function failureOf(source: string | object): { reason: FailureReason; message: string } {
  try {
    parseCheckpointConfig(source);
  } catch (error) {
    if (error instanceof FailureError) return { reason: error.reason, message: error.message };
    throw error;
  }
  throw new Error('expected a FailureError');
}

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

  test.each([
    [
      'an unknown model_type',
      { ...llama, model_type: 'gpt_neox' },
      'UnsupportedArchitecture',
      'llama, qwen3, qwen3_5',
    ],
    ['no model_type', { ...llama, model_type: undefined }, 'UnsupportedArchitecture', 'has no model_type'],
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
    ['awq', { ...llama, quantization_config: { quant_method: 'awq' } }, 'UnsupportedQuantization', '"awq"'],
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

  test('names every missing field at once', () => {
    const { message } = failureOf({ model_type: 'qwen3', hidden_size: -1 });
    expect(message).toContain('num_hidden_layers is missing');
    expect(message).toContain('vocab_size is missing');
    expect(message).toContain('hidden_size must be a positive integer, found -1');
  });
});
