import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { euroBertConfig, mixtralConfig } from './config.fixture.js';
import { parseCheckpointConfig } from './read-config.js';

describe('a config of EuroBERT', () => {
  test('sees both sides of a position, and generates nothing, so that its head is left alone', () => {
    expect(parseCheckpointConfig(euroBertConfig)).toMatchObject({
      ...{ architecture: 'eurobert', bidirectional: true, generates: false, tiedEmbeddings: true },
      ...{ hidden: 768, heads: 12, kvHeads: 12, headDim: 64, ffn: 3072, normEpsilon: 1e-5 },
      ...{ theta: 250000, rotaryDim: 64, maxPositionEmbeddings: 8192, labels: 0 },
    });
    expect(parseCheckpointConfig(mixtralConfig)).toMatchObject({ bidirectional: false, generates: true });
  });

  test('has what it leaves out as transformers has it', () => {
    const { head_dim, hidden_act, num_key_value_heads, rms_norm_eps, ...terse } = euroBertConfig;
    expect([head_dim, hidden_act, num_key_value_heads, rms_norm_eps]).toEqual([64, 'silu', 12, 1e-5]);
    expect(parseCheckpointConfig(terse)).toEqual(parseCheckpointConfig(euroBertConfig));
  });

  test.each([[['EuroBertModel']], [['EuroBertForMaskedLM']], [[]], [undefined]])(
    'embeds where it was saved as %j',
    (architectures) => {
      const shape = parseCheckpointConfig({ ...euroBertConfig, architectures });
      expect(shape).toEqual(parseCheckpointConfig(euroBertConfig));
    },
  );

  test.each([
    ['a head of labels', { architectures: ['EuroBertForSequenceClassification'] }, 'only embeddings are'],
    ['labels of tokens', { architectures: ['EuroBertForTokenClassification'] }, 'only embeddings are'],
    [
      'answers to questions',
      { architectures: ['EuroBertForQuestionAnswering'] },
      'EuroBertForQuestionAnswering is not supported: of eurobert, only embeddings are',
    ],
    [
      'a choice of several',
      { architectures: ['EuroBertForMultipleChoice'] },
      'ForMultipleChoice is not supported',
    ],
    ['causal attention', { is_causal: true }, 'is_causal is true, which is not supported for eurobert'],
    ['another activation', { hidden_act: 'gelu' }, 'hidden_act "gelu" is not supported, only silu'],
  ])('is refused with %s', (_what, fields, problem) => {
    const failure = thrownBy(FailureError, () => parseCheckpointConfig({ ...euroBertConfig, ...fields }));
    expect(failure.reason).toBe('UnsupportedArchitecture');
    expect(failure.message).toContain(problem);
  });
});
