// The two OpenAI answers behind one interface, so that one route serves both: chunks of a stream, and the whole.

import type { TextDelta } from '../../request/text/text-stream.js';
import type { Usage } from '../generation/generation.js';
import type { ReportedPrompt, TokenTexts } from './logprob-shapes.js';
import type { TextPlaces } from './text-places.js';

/** What every object of one answer begins with. */
export interface AnswerHead {
  readonly id: string;
  /** Unix time in seconds. */
  readonly created: number;
  readonly model: string;
}

/** One choice, read to its end. */
export interface WholeChoice extends TextDelta {
  /** Over its tokens, the end token apart; -Infinity where it has none, NaN where the engine was not asked. */
  readonly meanLogprob: number;
  /** vLLM's prompt_logprobs; null: not asked for. */
  readonly promptScores: ReportedPrompt | null;
  readonly usage: Usage;
  /** In which order its texts and calls came. */
  readonly deltas: readonly TextDelta[];
}

export interface AnswerShape {
  readonly idPrefix: string;
  /** Whether the last chunk carries the usage even if nobody asked (completions, as the reference deployment). */
  readonly usageOnLastChunk: boolean;
  /** The chunk that goes before a choice's first delta, with what is reported of the prompt; null: none does. */
  opening(head: AnswerHead, index: number, first: TextDelta, texts: TokenTexts): object | null;
  /** @param places gives those that were reported of the choice so far */
  chunk(
    head: AnswerHead,
    index: number,
    delta: TextDelta,
    places: () => TextPlaces,
    texts: TokenTexts,
  ): object;
  /** Without choices, for `stream_options.include_usage`. */
  emptyChunk(head: AnswerHead): object;
  whole(head: AnswerHead, choices: readonly WholeChoice[], texts: TokenTexts): object;
}

/** Of a chunk: what ended its choice only with the end, and ids only where they were asked for. */
export function chunkEnd({ finish, stopReason, tokenIds }: TextDelta): object {
  return {
    finish_reason: finish,
    ...(finish === null ? {} : { stop_reason: stopReason }),
    ...(tokenIds === null ? {} : { token_ids: tokenIds }),
  };
}

export function usageBody({ promptTokens, cachedTokens, completionTokens, reasoningTokens }: Usage): object {
  return {
    prompt_tokens: promptTokens,
    total_tokens: promptTokens + completionTokens,
    completion_tokens: completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

export function addUsage(all: readonly Usage[]): Usage {
  return all.reduce(
    (sum, each) => ({
      promptTokens: sum.promptTokens + each.promptTokens,
      cachedTokens: sum.cachedTokens + each.cachedTokens,
      completionTokens: sum.completionTokens + each.completionTokens,
      reasoningTokens: sum.reasoningTokens + each.reasoningTokens,
      acceptedDraftTokens: sum.acceptedDraftTokens + each.acceptedDraftTokens,
    }),
    { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0, acceptedDraftTokens: 0 },
  );
}
