import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { projectionSides } from '../adapters/projections.js';
import { kvBytesPerToken } from '../memory/kv-cache.js';
import { residentWeights } from '../weights/resident-weights.js';
import { wholeTrunk } from '../weights/whole-tensors.fixture.js';
import { gemma4MoeConfig, gemma4SmallConfig } from './config.fixture.js';
import { ofLayer } from './layer-attention.js';
import { parseCheckpointConfig } from './read-config.js';

const text = gemma4SmallConfig.text_config;
const shape = parseCheckpointConfig(gemma4SmallConfig);

describe('a config of the small sizes of Gemma 4', () => {
  test('has embeddings of each layer, and last layers of wider gates without keys and values', () => {
    expect(shape).toMatchObject({
      ...{ architecture: 'gemma4', kvHeads: 1, ffn: 6144, embeddingScale: 39.25 },
      globalAttention: { kvHeads: 1, headDim: 512, keysAreValues: false },
      layerEmbeddings: { width: 256, scale: 16 },
      sharedKv: { layers: 20, ffn: 12288 },
    });
    expect(ofLayer(shape, 14)).toMatchObject({ sharesKv: false, ffn: 6144, headDim: 512 });
    expect(ofLayer(shape, 15)).toMatchObject({ sharesKv: true, ffn: 12288, headDim: 256 });
  });

  test('may have layers that share keys and values and are no wider, as E4B, or neither', () => {
    const narrow = { ...text, use_double_wide_mlp: false };
    expect(parseCheckpointConfig(narrow).sharedKv).toEqual({ layers: 20, ffn: 6144 });
    const large = { ...text, num_kv_shared_layers: 0, hidden_size_per_layer_input: 0 };
    expect(parseCheckpointConfig(large)).toMatchObject({ sharedKv: null, layerEmbeddings: null });
  });

  test('keeps KV of the layers that have their own: twelve with a window, three without', () => {
    expect(kvBytesPerToken(shape, 1, 'bfloat16', 'auto', 35)).toBe((12 * 256 + 3 * 512) * 2 * 2);
  });

  test('leaves alone the keys and values that releases have for the other layers', () => {
    const expected = wholeTrunk(shape);
    const unread = ['k_proj', 'v_proj'].map((name) => ({
      ...{ name: `model.layers.34.self_attn.${name}.weight`, dtype: 'BF16', bytes: 512 * 1536 * 2 },
      shape: [512, 1536],
    }));
    expect(expected.some(({ name }) => name.includes('layers.34.self_attn.k_'))).toBe(false);
    const speculative = { method: 'none', tokens: 0 } as const;
    const held = (tensors: typeof expected) =>
      residentWeights(tensors, shape, { dtype: 'auto', quantization: 'none', speculative });
    expect(held([...expected, ...unread])).toEqual(held(expected));
  });

  test('takes no adapter of keys and values there', () => {
    expect(projectionSides(shape, 14, 'k_proj')).toEqual({ inputs: 1536, outputs: 512 });
    expect(projectionSides(shape, 15, 'k_proj')).toBeNull();
    expect(projectionSides(shape, 15, 'v_proj')).toBeNull();
    expect(projectionSides(shape, 15, 'up_proj')).toEqual({ inputs: 1536, outputs: 12288 });
  });

  test.each([
    [
      'embeddings of layers for other tokens than there are',
      { vocab_size_per_layer_input: 262_143 },
      'vocab_size_per_layer_input is 262143: .*; what works: vocab_size, 262144',
    ],
    ['layers that all share', { num_kv_shared_layers: 35 }, 'num_kv_shared_layers must be less .*, found 35'],
    ['half a layer', { num_kv_shared_layers: 1.5 }, 'num_kv_shared_layers must be .*, found 1.5'],
    [
      'no earlier layer of a kind',
      { num_kv_shared_layers: 31 },
      'num_kv_shared_layers is 31: layer 4 is without a window, and none of the first 4',
    ],
    ['a width that is none', { hidden_size_per_layer_input: -1 }, 'hidden_size_per_layer_input must be a'],
    ['a flag that is none', { use_double_wide_mlp: 2 }, 'use_double_wide_mlp must be true or false'],
    [
      'experts besides',
      { ...gemma4MoeConfig.text_config, num_kv_shared_layers: 6 },
      'num_kv_shared_layers is 6: .* beside experts; what works: 0',
    ],
  ])('is refused with %s', (_, fields, problem) => {
    const failure = thrownBy(FailureError, () => parseCheckpointConfig({ ...text, ...fields }));
    expect(failure.message).toMatch(new RegExp(problem));
  });
});
