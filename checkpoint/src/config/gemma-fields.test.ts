import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { gemma2Config, gemma3Config, llamaConfig } from './config.fixture.js';
import { parseCheckpointConfig } from './read-config.js';

const text = gemma3Config.text_config;

describe('a config of Gemma', () => {
  test('3 has what it leaves out as transformers has it, and a scaling that its context holds already', () => {
    const shape = parseCheckpointConfig(gemma3Config);
    expect(shape).toMatchObject({
      ...{ architecture: 'gemma3', heads: 8, kvHeads: 4, headDim: 256, vocab: 262208, tiedEmbeddings: true },
      ...{ qkNorm: true, unitOffsetNorm: true, postNorms: true, activation: 'gelu', queryScalar: 256 },
      ...{ scoreCap: 0, logitCap: 0, maxPositionEmbeddings: 131072 },
      ...{ theta: 1e6, scaling: { type: 'linear', factor: 8 }, rotaryDim: 256 },
      windowRope: { theta: 10000, scaling: { type: 'none' } },
    });
    expect(shape.windows.slice(0, 12)).toEqual([
      1024, 1024, 1024, 1024, 1024, 0, 1024, 1024, 1024, 1024, 1024, 0,
    ]);
  });

  test('3 may name its layers, and rotations by the kind of layer', () => {
    const named = {
      ...{ ...text, num_hidden_layers: 2, layer_types: ['full_attention', 'sliding_attention'] },
      rope_scaling: null,
      rope_parameters: {
        full_attention: { rope_type: 'default', rope_theta: 5e5 },
        sliding_attention: { rope_type: 'default', rope_theta: 2e4 },
      },
    };
    expect(parseCheckpointConfig(named)).toMatchObject({
      ...{ windows: [0, 1024], theta: 5e5, scaling: { type: 'none' }, windowRope: { theta: 2e4 } },
    });
  });

  test('2 caps scores and logits, unless it says null, and has a window in every second layer', () => {
    const shape = parseCheckpointConfig(gemma2Config);
    expect(shape).toMatchObject({
      scoreCap: 50,
      logitCap: 30,
      windowRope: null,
      qkNorm: false,
      theta: 10000,
    });
    expect(shape.windows.slice(0, 4)).toEqual([4096, 0, 4096, 0]);
    const uncapped = { ...gemma2Config, attn_logit_softcapping: null, final_logit_softcapping: null };
    expect(parseCheckpointConfig(uncapped)).toMatchObject({ scoreCap: 0, logitCap: 0 });
  });

  // torch.tensor(3072 ** 0.5, dtype=...): the first is the example in the modeling code of transformers.
  test.each([
    ['bfloat16', 3072, 55.5],
    [undefined, 3072, 55.5],
    ['float16', 3072, 55.4375],
    ['bfloat16', 2560, 50.5],
    ['bfloat16', 1152, 34],
    ['bfloat16', 4096, 64],
  ])('multiplies embeddings by the root of the width in %s: of %i by %d', (dtype, hidden, scale) => {
    const config = { ...gemma3Config, torch_dtype: dtype, text_config: { ...text, hidden_size: hidden } };
    expect(parseCheckpointConfig(config).embeddingScale).toBe(scale);
  });

  test('in float32 has that root to 24 bits', () => {
    const { embeddingScale } = parseCheckpointConfig({ ...gemma2Config, torch_dtype: 'float32' });
    expect(embeddingScale).toBe(Math.fround(Math.sqrt(3584)));
  });

  test.each([
    [
      'another activation',
      { hidden_activation: 'gelu' },
      'hidden_activation "gelu" is not supported, only gelu_pytorch_tanh',
    ],
    ['attention to both sides', { use_bidirectional_attention: true }, 'use_bidirectional_attention is true'],
    [
      'a query scalar of nothing',
      { query_pre_attn_scalar: 0 },
      'query_pre_attn_scalar must be a positive number',
    ],
    [
      'a layer of another kind',
      { layer_types: ['chunked_attention'], num_hidden_layers: 1 },
      'chunked_attention',
    ],
  ])('is refused with %s', (_, fields, problem) => {
    const failure = thrownBy(FailureError, () => parseCheckpointConfig({ ...gemma2Config, ...fields }));
    expect(failure.message).toContain(problem);
  });
});

test('Gemma 3 that sees both sides embeds alone, by windows of half the width to each', () => {
  const ahead = { ...text, use_bidirectional_attention: true, sliding_window: 512 };
  const shape = parseCheckpointConfig({ ...ahead, architectures: ['Gemma3TextModel'] });
  expect(shape).toMatchObject({ bidirectional: true, generates: false, tiedEmbeddings: true });
  expect([...new Set(shape.windows)].sort()).toEqual([0, 257]);
  const labels = { ...ahead, architectures: ['Gemma3TextForSequenceClassification'] };
  expect(() => parseCheckpointConfig(labels)).toThrow('only embeddings are');
  expect(() => parseCheckpointConfig({ ...gemma3Config, text_config: ahead })).toThrow(
    'of gemma3, with a text_config, only models that generate are supported',
  );
});

test('other architectures have none of it', () => {
  expect(parseCheckpointConfig(llamaConfig)).toMatchObject({
    ...{ embeddingScale: 1, postNorms: false, activation: 'silu', queryScalar: 16 },
    ...{ scoreCap: 0, logitCap: 0, windowRope: null },
  });
});
