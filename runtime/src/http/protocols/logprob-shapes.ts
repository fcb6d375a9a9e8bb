// Log probabilities in OpenAI's two forms: a list of objects on chat, parallel lists on completions.

import type { PromptScore } from '../../engine/protocol.js';
import type { GeneratedToken } from '../../request/text/text-stream.js';

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
    content: tokens.flatMap(({ id, logprobs }) =>
      logprobs === null
        ? []
        : [
            {
              ...entry(id, logprobs.logprob),
              top_logprobs: logprobs.top.map(({ token, logprob }) => entry(token, logprob)),
            },
          ],
    ),
  };
}

/** vLLM's prompt_logprobs: null for the first token, then of each token itself and of the likeliest `count`, by id. */
export function promptLogprobs(
  scores: readonly PromptScore[],
  count: number,
  texts: TokenTexts,
): readonly (object | null)[] {
  const entry = (token: number, logprob: number, rank: number): [string, object] => [
    String(token),
    { logprob: finite(logprob), rank, decoded_token: texts.tokenText(token) },
  ];
  const ofToken = ({ token, logprob, rank, top }: PromptScore): object =>
    Object.fromEntries([
      ...top.slice(0, count).map((each, place) => entry(each.token, each.logprob, place + 1)),
      entry(token, logprob, rank),
    ]);
  return [null, ...scores.map(ofToken)];
}

/** vLLM's return_tokens_as_token_ids: tokens that are no text of their own can be told apart. */
export function textsById(texts: TokenTexts): TokenTexts {
  return { tokenText: (id) => `token_id:${String(id)}`, tokenBytes: (id) => texts.tokenBytes(id) };
}

/** Characters of the texts of single tokens. */
export function spelledLength(tokens: readonly GeneratedToken[], texts: TokenTexts): number {
  return tokens.reduce((length, { id }) => length + texts.tokenText(id).length, 0);
}

/** @param position `spelledLength` of the tokens before these */
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
    token_logprobs: tokens.map(({ logprobs }) => (logprobs === null ? null : finite(logprobs.logprob))),
    top_logprobs: tokens.map(({ logprobs }) =>
      logprobs === null
        ? null
        : Object.fromEntries(
            logprobs.top.map(({ token, logprob }) => [texts.tokenText(token), finite(logprob)]),
          ),
    ),
    text_offset: spelled.map((text) => {
      const at = offset;
      offset += text.length;
      return at;
    }),
  };
}
