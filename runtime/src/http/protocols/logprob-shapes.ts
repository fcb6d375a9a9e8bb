// Log probabilities in OpenAI's two forms: a list of objects on chat, parallel lists on completions.

import type { PromptScore, TokenLogprobs } from '../../engine/protocol.js';
import type { ApiRequest } from '../../request/parse/parse-request.js';
import { LongList } from '../../request/text/long-json.js';
import type { GeneratedToken } from '../../request/text/text-stream.js';
import type { PromptScores } from '../generation/prompt-share.js';
import { TextPlaces } from './text-places.js';

/** Texts of single tokens; the tokenizer is one. */
export interface TokenTexts {
  tokenText(id: number): string;
  tokenBytes(id: number): Uint8Array;
  /** What places are counted in, where that is not the text. */
  spelledBytes?(id: number): Uint8Array;
  /** Whether an answer's text has nothing of the token, which is named all the same. */
  isLeftOut?(id: number): boolean;
}

/** Log probabilities of a prompt: as computed, or as vLLM's own engine has written them. */
export type ReportedPrompt = PromptScores | { readonly written: readonly unknown[] };

// JSON has no -Infinity; OpenAI writes this for what is below every float.
const lowestLogprob = -9999;
const finite = (logprob: number): number => (Number.isFinite(logprob) ? logprob : lowestLogprob);

/** OpenAI's entry of each token that has a log probability. */
export function scoredTokens(tokens: readonly GeneratedToken[], texts: TokenTexts): LongList {
  const entry = (id: number, logprob: number): object => ({
    token: texts.tokenText(id),
    logprob: finite(logprob),
    bytes: [...texts.tokenBytes(id)],
  });
  const scored = tokens.flatMap(({ id, logprobs }) => (logprobs === null ? [] : [{ id, ...logprobs }]));
  return new LongList(scored.length, (index) => {
    const token = scored[index];
    if (token === undefined) return null;
    const { id, logprob, top } = token;
    return { ...entry(id, logprob), top_logprobs: top.map((each) => entry(each.token, each.logprob)) };
  });
}

/** vLLM's prompt_logprobs: null for the first token, then of each token itself and of the likeliest, by id. */
export function promptLogprobs(asked: ReportedPrompt, texts: TokenTexts): object {
  if ('written' in asked) return asked.written;
  const { scores, alternatives } = asked;
  const entry = (token: number, logprob: number, rank: number): [string, object] => [
    String(token),
    { logprob: finite(logprob), rank, decoded_token: texts.tokenText(token) },
  ];
  const ofToken = ({ token, logprob, rank, top }: PromptScore): object =>
    Object.fromEntries([
      ...top.slice(0, alternatives).map((each, place) => entry(each.token, each.logprob, place + 1)),
      entry(token, logprob, rank),
    ]);
  return new LongList(scores.length + 1, (index) => {
    const score = scores[index - 1];
    return score === undefined ? null : ofToken(score);
  });
}

/** vLLM's return_tokens_as_token_ids: tokens that are no text of their own can be distinguished. */
function textsById(texts: TokenTexts): TokenTexts {
  const nameOf = (id: number): string => `token_id:${String(id)}`;
  return {
    tokenText: nameOf,
    tokenBytes: (id) => texts.tokenBytes(id),
    spelledBytes: (id) => Buffer.from(nameOf(id)),
  };
}

/** Tokens by their text, of an answer that has or leaves out special ones, or by their ids. */
export function textsOf(
  tokenizer: TokenTexts & { isSpecial(id: number): boolean },
  { skipSpecialTokens, details }: Pick<ApiRequest, 'skipSpecialTokens' | 'details'>,
): TokenTexts {
  if (details.tokensAsIds) return textsById(tokenizer);
  return {
    tokenText: (id) => tokenizer.tokenText(id),
    tokenBytes: (id) => tokenizer.tokenBytes(id),
    isLeftOut: (id) => skipSpecialTokens && tokenizer.isSpecial(id),
  };
}

/**
 * OpenAI's is one more than asked for where the token itself is none of the likeliest. It comes last, so that its own
 * number stands where another token is spelled the same.
 */
function byText(tokens: TokenLogprobs['top'], texts: TokenTexts): object {
  return Object.fromEntries(tokens.map(({ token, logprob }) => [texts.tokenText(token), finite(logprob)]));
}

/** Of tokens in one text, none of which is reported yet. */
export function placesOf(texts: TokenTexts): TextPlaces {
  return new TextPlaces((id) => texts.spelledBytes?.(id) ?? texts.tokenBytes(id));
}

/** @param placesBefore gives the places of which those before these tokens are reported */
export function completionLogprobs(
  tokens: readonly GeneratedToken[],
  placesBefore: () => TextPlaces,
  texts: TokenTexts,
): object | null {
  if (tokens.length === 0) return null;
  const places = placesBefore();
  const listOf = (of: (token: GeneratedToken) => unknown): LongList =>
    new LongList(tokens.length, (index) => {
      const token = tokens[index];
      return token === undefined ? null : of(token);
    });
  return {
    tokens: listOf(({ id }) => texts.tokenText(id)),
    token_logprobs: listOf(({ logprobs }) => (logprobs === null ? null : finite(logprobs.logprob))),
    top_logprobs: listOf(({ id, logprobs }) =>
      logprobs === null ? null : byText([...logprobs.top, { token: id, logprob: logprobs.logprob }], texts),
    ),
    // Counted on from one to the next, and so once.
    text_offset: tokens.map(({ id, isLeftOut }) =>
      places.next(id, texts.isLeftOut !== undefined && (isLeftOut ?? texts.isLeftOut(id))),
    ),
  };
}
