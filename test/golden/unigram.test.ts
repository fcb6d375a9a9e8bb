// The Unigram tokenizer of XLM-RoBERTa's kind against sentencepiece, whose normalizer it has: texts, and pairs as its
// cross-encoders read them.

import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { ModelTexts } from '../../runtime/src/request/prepare/model-texts.js';
import { encodePair } from '../../runtime/src/request/prepare/pair-prompt.js';
import { headClassifier } from '../../runtime/src/request/prepare/plain-embeddings.fixture.js';
import { requirePairFrame } from '../../runtime/src/tokens/require-pair-frame.js';
import { Tokenizer } from '../../runtime/src/tokens/tokenizer.js';

interface Cases {
  readonly single: readonly { readonly text: string; readonly ids: number[] }[];
  readonly pairs: readonly { readonly query: string; readonly document: string; readonly ids: number[] }[];
}

const read = (name: string): string => readFileSync(new URL(`unigram/${name}`, import.meta.url), 'utf8');
const tokenizer = Tokenizer.fromJson(read('tokenizer.json'), 'tokenizer.json');
const { single, pairs } = JSON.parse(read('cases.json')) as Cases;

test('texts become the tokens that sentencepiece makes of them', async () => {
  expect(single.length).toBeGreaterThan(20);
  for (const { text, ids } of single)
    expect([text, [...(await tokenizer.encode(text, { addSpecialTokens: true }))]]).toEqual([text, ids]);
});

test('pairs have two ends between them', async () => {
  await requirePairFrame(tokenizer);
  const model = { tokenizer, maxModelLen: 4096 } as ModelTexts;
  const classifier = { ...headClassifier, pooling: 'cls' } as const;
  const pairOf = (query: string, document: string): Parameters<typeof encodePair>[0] => ({
    ...{ query, document, param: 'documents', queryParam: 'query' },
  });
  for (const { query, document, ids } of pairs)
    expect([...(await encodePair(pairOf(query, document), null, classifier, model))]).toEqual(ids);
  await expect(encodePair(pairOf('a', 'b'), 'judge', classifier, model)).rejects.toThrow('instruction');
});
