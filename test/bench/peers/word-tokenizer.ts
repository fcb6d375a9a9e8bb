// A tokenizer.json of any size: a token for each byte and each pair of letters, words of four letters for the rest. Benchmarks
// take it for models of random weights, which say every token of a large vocabulary.

import { byteTokenizer } from '../../builders/byte-tokenizer.js';

interface Bytes {
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
}

const letters = Array.from('abcdefghijklmnopqrstuvwxyz');
const pairs = letters.flatMap((first) => letters.map((second) => first + second));

/** `size` tokens, at most some 457,000. */
export function wordTokenizer(size: number): object {
  const bytes = byteTokenizer() as Bytes;
  const vocab = new Map(Object.entries(bytes.model.vocab));
  const merges: (readonly [string, string])[] = [];
  const merge = (first: string, second: string): void => {
    if (vocab.size === size) return;
    vocab.set(first + second, vocab.size);
    merges.push([first, second]);
  };
  for (const [first, second] of pairs.map(([a, b]) => [a!, b!] as const)) merge(first, second);
  for (const first of pairs) for (const second of pairs) merge(first, second);
  return { ...bytes, model: { ...bytes.model, vocab: Object.fromEntries(vocab), merges } };
}
