// Log probabilities in OpenAI's two forms: a list of objects on chat, parallel lists on completions.

import type { GeneratedToken } from '../request/text-stream.js';

/** Texts of single tokens; the tokenizer is one. */
export interface TokenTexts {
  tokenText(id: number): string;
  tokenBytes(id: number): Uint8Array;
}

// JSON has no -Infinity; OpenAI writes this for what is below every float.
const lowestLogprob = -9999;
const finite = (logprob: number): number => (Number.isFinite(logprob) ? logprob : lowestLogprob);

export function chatLogprobs(tokens: readonly GeneratedToken[], texts: TokenTexts): object | null {
  if (tokens.length === 0) return null;
  const entry = (id: number, logprob: number): object => ({
    token: texts.tokenText(id),
    logprob: finite(logprob),
    bytes: [...texts.tokenBytes(id)],
  });
  return {
    content: tokens.map(({ id, logprobs }) => ({
      ...entry(id, logprobs.logprob),
      top_logprobs: logprobs.top.map(({ token, logprob }) => entry(token, logprob)),
    })),
  };
}

/** @param position characters of the text before these tokens */
export function completionLogprobs(
  tokens: readonly GeneratedToken[],
  position: number,
  texts: TokenTexts,
): object | null {
  if (tokens.length === 0) return null;
  const spelled = tokens.map(({ id }) => texts.tokenText(id));
  let offset = position;
  return {
    tokens: spelled,
    token_logprobs: tokens.map(({ logprobs }) => finite(logprobs.logprob)),
    top_logprobs: tokens.map(({ logprobs }) =>
      Object.fromEntries(logprobs.top.map(({ token, logprob }) => [texts.tokenText(token), finite(logprob)])),
    ),
    text_offset: spelled.map((text) => {
      const at = offset;
      offset += text.length;
      return at;
    }),
  };
}
