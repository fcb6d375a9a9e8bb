// SentencePiece's byte pairs, as GGUF files have them: tokens with scores, of which the best join first, and bytes for what
// no token spells. Scores become the merges that a tokenizer.json has instead.
// Source: sentencepiece, src/bpe_model.cc; llama.cpp, src/llama-vocab.cpp.

import { type TokenizerKeys, tokenKinds } from './gguf-tokenizer-keys.js';

/** Stands for a space within tokens. */
const mark = '\u2581';

/** @throws FailureError TokenizerInvalid, naming the key */
export function sentencePieceParts(
  keys: TokenizerKeys,
  vocab: ReadonlyMap<string, number>,
  tokens: readonly string[],
): object {
  const prefixed = keys.flag('add_space_prefix', true);
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
      merges: mergesOf(keys, tokens),
    },
  };
}

/** Each cut of a token is looked up: what a token of a megabyte would cost has no end. SentencePiece's own have 16. */
const maxTokenLength = 1024;

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
  const known = new Set(joined.map(({ token }) => token));
  joined.sort((a, b) => b.score - a.score);
  return joined.flatMap(({ token }) => {
    const pairs: [string, string][] = [];
    for (let at = token.length - 1; at > 0; at--) {
      const pair: [string, string] = [token.slice(0, at), token.slice(at)];
      if (pair.every((part) => known.has(part))) pairs.push(pair);
    }
    return pairs;
  });
}
