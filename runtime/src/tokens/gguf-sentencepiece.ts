// SentencePiece's byte pairs, as GGUF files have them: tokens with scores, of which the best join first, and bytes for what
// no token spells. Scores become the merges that a tokenizer.json has instead.
// Source: sentencepiece, src/bpe_model.cc; llama.cpp, src/llama-vocab.cpp.

import { type TokenizerKeys, tokenKinds } from './gguf-tokenizer-keys.js';

/** Stands for a space within tokens. */
const mark = '\u2581';

/**
 * @param merges pairs in the order in which they join; null: by the scores. A file that lists them puts no space before a text
 * unless it says so
 * @throws FailureError TokenizerInvalid, naming the key
 */
export function sentencePieceParts(
  keys: TokenizerKeys,
  vocab: ReadonlyMap<string, number>,
  tokens: readonly string[],
  merges: readonly (readonly [string, string])[] | null,
): object {
  const prefixed = keys.flag('add_space_prefix', merges === null);
  const replaced = { type: 'Replace', pattern: { String: ' ' }, content: mark };
  const unknown = keys.id('unknown_token_id', tokens.length);
  return {
    normalizer: {
      type: 'Sequence',
      normalizers: prefixed ? [{ type: 'Prepend', prepend: mark }, replaced] : [replaced],
    },
    pre_tokenizer: null,
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: mark }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        ...(prefixed ? [{ type: 'Strip', content: ' ', start: 1, stop: 0 }] : []),
      ],
    },
    model: {
      ...{ type: 'BPE', dropout: null, unk_token: unknown === null ? null : tokens[unknown] },
      ...{ continuing_subword_prefix: null, end_of_word_suffix: null },
      ...{ fuse_unk: true, byte_fallback: true, ignore_merges: false },
      vocab: Object.fromEntries(vocab),
      merges: merges ?? mergesOf(keys, tokens),
    },
  };
}

/** Each cut of a token is looked up: what a token of a megabyte would cost has no end. SentencePiece's own have 16. */
const maxTokenLength = 1024;
/** Of all tokens: Gemma's 262,144 take 13 million. */
const maxLooks = 2 ** 28;
/** Of all tokens, some and so many more for each: Gemma's have two or three. */
const maxPairs = (tokens: number): number => 2 ** 16 + 16 * tokens;

/** All pairs of tokens that spell a token, by its score; of one token, those with the longest beginning first. */
function mergesOf(keys: TokenizerKeys, tokens: readonly string[]): readonly (readonly [string, string])[] {
  const scores = keys.numbers('scores', tokens.length);
  const kinds = keys.numbers('token_type', tokens.length);
  if (scores === null) throw keys.invalid('scores', 'is missing; SentencePiece joins tokens by it');
  const joined = tokens.flatMap((token, id) => {
    const isJoined = (kinds?.[id] ?? tokenKinds.normal) === tokenKinds.normal;
    return isJoined ? [{ token, score: scores[id] ?? Number.NaN }] : [];
  });
  for (const { token, score } of joined) {
    if (!Number.isFinite(score)) throw keys.invalid('scores', `has ${score}; a token's score is a number`);
    if (token.length > maxTokenLength) {
      const found = `has a token of ${token.length} characters; at most ${maxTokenLength} are read`;
      throw keys.invalid('tokens', found);
    }
  }
  // As many cuts as a token has characters, and as many characters to compare at each.
  const looks = joined.reduce((sum, { token }) => sum + token.length ** 2, 0);
  if (looks > maxLooks) {
    throw keys.invalid('tokens', `has ${joined.length} tokens that are too long to be cut everywhere`);
  }
  const known = new Set(joined.map(({ token }) => token));
  joined.sort((a, b) => b.score - a.score);
  const pairs: [string, string][] = [];
  for (const { token } of joined) {
    for (let at = token.length - 1; at > 0; at--) {
      const pair: [string, string] = [token.slice(0, at), token.slice(at)];
      if (pair.every((part) => known.has(part))) pairs.push(pair);
    }
    if (pairs.length > maxPairs(joined.length)) {
      const found = `has ${joined.length} tokens that more than ${maxPairs(joined.length)} pairs of tokens spell`;
      throw keys.invalid('tokens', found);
    }
  }
  return pairs;
}
