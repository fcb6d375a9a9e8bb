import { expect, test } from '@jest/globals';
import { wordTokenizer } from './word-tokenizer.js';

interface Tokenizer {
  readonly added_tokens: readonly object[];
  readonly model: {
    readonly vocab: Readonly<Record<string, number>>;
    readonly merges: readonly (readonly [string, string])[];
  };
}

test('has a token for each id, and merges that make every word of tokens before it', () => {
  const size = 2000;
  const { vocab, merges } = (wordTokenizer(size) as Tokenizer).model;
  const tokens = Object.keys(vocab).sort((a, b) => vocab[a]! - vocab[b]!);
  expect(tokens.map((token) => vocab[token])).toEqual(Array.from({ length: size }, (_, id) => id));
  const ready = new Set(tokens.slice(0, size - merges.length));
  for (const [first, second] of merges) {
    expect(ready.has(first) && ready.has(second)).toBe(true);
    ready.add(first + second);
  }
  expect(ready.size).toBe(size);
});
