import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { modernBertConfig } from './modernbert-config.fixture.js';
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

  test('rotates by one angle in all layers where local_rope_theta is null', () => {
    const { windowRope } = parseCheckpointConfig({ ...modernBertConfig, local_rope_theta: null });
    expect(windowRope).toEqual({ rotaryDim: 64, theta: 160000, scaling: { type: 'none' } });
  });

  test('may say what holds without being said', () => {
    const rope = { rope_type: 'default', partial_rotary_factor: 1 };
    const said = { head_dim: 64, partial_rotary_factor: 1, rope_parameters: { full_attention: rope } };
    expect(parseCheckpointConfig({ ...modernBertConfig, ...said })).toEqual(
      parseCheckpointConfig(modernBertConfig),
    );
  });

  test.each([
    ['a head of labels', { architectures: ['ModernBertForSequenceClassification'] }, 'only embeddings are'],
    [
      'answers to questions',
      { architectures: ['ModernBertForQuestionAnswering'] },
      'ModernBertForQuestionAnswering is not supported: of modernbert, only embeddings are',
    ],
    [
      'a choice of several',
      { architectures: ['ModernBertForMultipleChoice'] },
      'ForMultipleChoice is not supported',
    ],
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
      'angles for all layers in one',
      { rope_parameters: { rope_type: 'default', rope_theta: 500000 } },
      'rope_parameters has rope_type, rope_theta; for modernbert it has to have full_attention and sliding_attention',
    ],
    [
      'scaled angles of layers without windows',
      { rope_parameters: { full_attention: { rope_type: 'linear', factor: 2 } } },
      'rope_parameters.full_attention.rope_type "linear" is not supported for modernbert, only default',
    ],
    [
      'scaled angles of windows',
      { rope_parameters: { sliding_attention: { type: 'yarn', factor: 4 } } },
      'rope_parameters.sliding_attention.rope_type "yarn" is not supported',
    ],
    ['wider heads', { head_dim: 128 }, 'head_dim is 128; for modernbert only hidden_size'],
    ['heads that rotate in part', { partial_rotary_factor: 0.5 }, 'partial_rotary_factor 0.5 is not'],
    [
      'windows that rotate in part',
      { rope_parameters: { sliding_attention: { partial_rotary_factor: 0.5 } } },
      'rope_parameters.sliding_attention.partial_rotary_factor 0.5 is not supported for modernbert, only 1',
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
