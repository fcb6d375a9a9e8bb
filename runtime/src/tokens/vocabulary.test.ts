import { expect, test } from '@jest/globals';
import { tokenizerJson } from './tokenizer.fixture.js';
import { Tokenizer } from './tokenizer.js';
import { vocabularyOf } from './vocabulary.js';

const tokenizer = Tokenizer.fromJson(tokenizerJson(), 'tokenizer.json');
const id = (token: string): number => tokenizer.tokenId(token)!;

test('has the bytes of every id, none for markers and for ids beyond the tokenizer', () => {
  const size = tokenizer.vocabSize + 3;
  const { bytes, ends, stopTokens } = vocabularyOf(tokenizer, size, [id('<|end|>'), size + 1]);
  const of = (each: number): string =>
    new TextDecoder().decode(bytes.subarray(ends[each - 1] ?? 0, ends[each]));
  expect(ends).toHaveLength(size);
  expect(of(id('hello'))).toBe('hello');
  expect(of(id('Ġworld'))).toBe(' world');
  for (const none of [id('<|bos|>'), id('<|end|>'), size - 1]) expect(of(none)).toBe('');
  expect(Array.from({ length: 256 }, (_, byte) => ends[byte]! - (ends[byte - 1] ?? 0))).toEqual(
    new Array(256).fill(1),
  );
  expect([...stopTokens]).toEqual([id('<|end|>')]);
});
