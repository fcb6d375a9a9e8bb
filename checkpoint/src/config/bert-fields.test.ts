import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { parseCheckpointConfig } from './read-config.js';

/** As bge-m3 has it. */
const config = {
  ...{ architectures: ['XLMRobertaModel'], model_type: 'xlm-roberta', hidden_act: 'gelu' },
  ...{ hidden_size: 1024, intermediate_size: 4096, num_attention_heads: 16, num_hidden_layers: 24 },
  ...{ layer_norm_eps: 1e-5, max_position_embeddings: 8194, type_vocab_size: 1, vocab_size: 250_002 },
  ...{ pad_token_id: 1, bos_token_id: 0, eos_token_id: 2, position_embedding_type: 'absolute' },
};

test('positions begin behind that of padding, so that as many fewer are left', () => {
  expect(parseCheckpointConfig(config)).toMatchObject({
    ...{ architecture: 'xlm-roberta', bidirectional: true, generates: false, labels: 0 },
    ...{ bert: { positions: 8194, firstPosition: 2, types: 1 }, maxPositionEmbeddings: 8192, rotaryDim: 0 },
    ...{ normEpsilon: 1e-5, layerNorm: true, embeddingNorm: true, activation: 'erfGelu' },
    ...{ qkvBias: true, outputBias: true, mlpBias: true, kvHeads: 16, headDim: 64, ffn: 4096 },
  });
});

test('a head for sequence classification has labels', () => {
  const reranker = { architectures: ['XLMRobertaForSequenceClassification'], id2label: { 0: 'LABEL_0' } };
  expect(parseCheckpointConfig({ ...config, ...reranker })).toMatchObject({ labels: 1, generates: false });
});

test.each([
  ['relative positions', { position_embedding_type: 'relative_key' }, '"relative_key" is not supported'],
  ['attention to one side', { is_decoder: true }, 'is_decoder is true'],
  ['another activation', { hidden_act: 'relu' }, 'hidden_act "relu" is not supported, only gelu'],
  [
    'labels of tokens',
    { architectures: ['XLMRobertaForTokenClassification'] },
    'of xlm-roberta, embeddings and heads for sequence classification are',
  ],
])('is refused with %s', (_what, fields, problem) => {
  const failure = thrownBy(FailureError, () => parseCheckpointConfig({ ...config, ...fields }));
  expect(failure.reason).toBe('UnsupportedArchitecture');
  expect(failure.message).toContain(problem);
});

test('padding leaves positions', () => {
  const failure = thrownBy(FailureError, () => parseCheckpointConfig({ ...config, pad_token_id: 8193 }));
  expect(failure.message).toContain('pad_token_id 8193 leaves no positions of 8194');
});
