import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { modernBertConfig } from './config.fixture.js';
import { parseCheckpointConfig } from './read-config.js';

describe('a config of ModernBERT', () => {
  const windows = Array.from({ length: 22 }, (_, i) => (i % 3 === 0 ? 0 : 65));

  test('has windows to both sides in two layers of three, which rotate by angles of their own', () => {
    expect(parseCheckpointConfig(modernBertConfig)).toMatchObject({
      ...{ architecture: 'modernbert', bidirectional: true, generates: false, tiedEmbeddings: true },
      ...{ hidden: 768, heads: 12, kvHeads: 12, headDim: 64, ffn: 1152, normEpsilon: 1e-5 },
      ...{ layerNorm: true, embeddingNorm: true, activation: 'erfGelu', windows },
      ...{ theta: 160000, windowRope: { theta: 10000, scaling: { type: 'none' } }, rotaryDim: 64 },
      ...{ maxPositionEmbeddings: 8192, qkvBias: false, outputBias: false, mlpBias: false },
    });
  });

  test('has what it leaves out, and newer names, as transformers has them', () => {
    const { vocab_size, hidden_size, num_hidden_layers, ...more } = modernBertConfig;
    const { intermediate_size, num_attention_heads, max_position_embeddings, architectures } = more;
    const terse = {
      ...{ model_type: 'modernbert', architectures, vocab_size, hidden_size, num_hidden_layers },
      ...{ intermediate_size, num_attention_heads, max_position_embeddings },
    };
    expect(parseCheckpointConfig(terse)).toEqual(parseCheckpointConfig(modernBertConfig));
    const newer = {
      ...terse,
      layer_types: windows.map((window) => (window === 0 ? 'full_attention' : 'sliding_attention')),
      rope_parameters: {
        full_attention: { rope_type: 'default', rope_theta: 160000 },
        sliding_attention: { rope_type: 'default', rope_theta: 10000 },
      },
    };
    expect(parseCheckpointConfig(newer)).toEqual(parseCheckpointConfig(modernBertConfig));
  });

  test.each([
    ['a head of labels', { architectures: ['ModernBertForSequenceClassification'] }, 'only embeddings are'],
    ['biases of norms', { norm_bias: true }, 'norm_bias is true, which is not supported for modernbert'],
    [
      'another activation',
      { hidden_activation: 'silu' },
      'hidden_activation "silu" is not supported, only gelu',
    ],
    [
      'scaled angles',
      { rope_scaling: { rope_type: 'yarn' } },
      'rope_scaling is not supported for modernbert',
    ],
    [
      'another kind of layer',
      { layer_types: Array(22).fill('linear_attention') },
      'supported here: full_attention',
    ],
  ])('is refused with %s', (_what, fields, problem) => {
    const failure = thrownBy(FailureError, () => parseCheckpointConfig({ ...modernBertConfig, ...fields }));
    expect(failure.reason).toBe('UnsupportedArchitecture');
    expect(failure.message).toContain(problem);
  });
});
