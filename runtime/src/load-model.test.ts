import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../crds/src/thrown-by.fixture.js';
import { harmonyTexts, harmonyTokens } from './harmony/harmony-tokens.js';
import { servedModel, type ModelFiles } from './load-model.js';
import { noDefaults, noServerDefaults } from './request/fields/generation-defaults.fixture.js';
import { plainEmbeddings } from './request/prepare/plain-embeddings.fixture.js';
import { tokenizerJson } from './tokens/tokenizer.fixture.js';
import { Tokenizer } from './tokens/tokenizer.js';

const marks = Object.values(harmonyTexts).filter((text) => text !== '<|end|>');
const tokenizer = Tokenizer.fromJson(tokenizerJson(['<think>', '</think>'], marks), 'tokenizer.json');
const harmony = harmonyTokens(tokenizer);
const files = {
  ...{ tokenizer, harmony, chatTemplate: null, defaults: noDefaults, tokenizerInfo: {} },
  ...{ thinksByItself: true, probedDialect: null, classifierTokens: null },
} as unknown as ModelFiles;
const served = (settings: Parameters<typeof servedModel>[4]): ReturnType<typeof servedModel> =>
  servedModel(files, noServerDefaults, { vocabSize: 300 } as never, 4096, settings, {
    generates: true,
    classifier: null,
    pooling: null,
    ...plainEmbeddings,
  });

test('a model that answers in channels has no other markers of thoughts and calls', () => {
  expect(served({})).toMatchObject({ harmony, think: null, toolDialect: null });
});

test('an encoder pools the mean, and judges by no tokens', () => {
  const heads = { generates: false, classifier: null, pooling: null, ...plainEmbeddings };
  const info = { vocabSize: 300, architecture: 'eurobert', bidirectional: true } as never;
  const encoder = (settings: Parameters<typeof servedModel>[4]): ReturnType<typeof servedModel> =>
    servedModel(files, noServerDefaults, info, 512, settings, heads);
  expect(encoder({})).toMatchObject({ generates: false, pooling: 'mean', embeds: true });
  expect(served({})).toMatchObject({ generates: true, pooling: 'last', embeds: false });
  const { reason, message } = thrownBy(FailureError, () => encoder({ classifierFromToken: ['a', 'b'] }));
  expect(reason).toBe('InvalidEngineConfig');
  expect(message).toContain('eurobert has no logits of tokens: remove it');
});

test('a checkpoint of sentence-transformers pools as it says, and embeds though it could generate', () => {
  const heads = { generates: true, classifier: null, pooling: 'cls', ...plainEmbeddings } as const;
  const model = servedModel(files, noServerDefaults, { vocabSize: 300 } as never, 4096, {}, heads);
  expect(model).toMatchObject({ generates: true, pooling: 'cls', embeds: true });
});

test.each(['toolCallParser', 'reasoningParser'])('nor does it take a parser by %s', (field) => {
  const { reason, message } = thrownBy(FailureError, () => served({ [field]: 'qwen3' }));
  expect([reason, message]).toEqual([
    'InvalidEngineConfig',
    `engine.${field} is qwen3, but the model answers in the channels of Harmony: remove it`,
  ]);
});
