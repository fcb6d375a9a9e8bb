// Tokens of all generations of a request together, and how fast they came.

import type { TokenCounts } from '../keys/token-counts.js';
import type { FinishedGeneration } from './ended-request.js';
import { lengthOf, phasesOf } from './request-phases.js';

export function totalUsage(generations: readonly FinishedGeneration[]): TokenCounts {
  const sum = (pick: (usage: TokenCounts) => number): number =>
    generations.reduce((total, { usage }) => total + pick(usage), 0);
  return {
    promptTokens: sum((usage) => usage.promptTokens),
    cachedTokens: sum((usage) => usage.cachedTokens),
    completionTokens: sum((usage) => usage.completionTokens),
    reasoningTokens: sum((usage) => usage.reasoningTokens),
    acceptedDraftTokens: sum((usage) => usage.acceptedDraftTokens),
  };
}

/** By prompt, which a request may have several of. */
export function answersByPrompt(
  generations: readonly FinishedGeneration[],
): readonly (readonly FinishedGeneration[])[] {
  const prompts = new Set(generations.map(({ promptId }) => promptId));
  return [...prompts].map((prompt) => generations.filter(({ promptId }) => promptId === prompt));
}

/** Null where nothing was decoded: first tokens belong to the prefill. */
export function tokensPerSecond(generations: readonly FinishedGeneration[]): number | null {
  const decodeMs = lengthOf(phasesOf(generations).decode) ?? 0;
  const firsts = generations.filter(({ firstTokenAt }) => firstTokenAt !== null).length;
  const later = totalUsage(generations).completionTokens - firsts;
  return decodeMs > 0 && later > 0 ? Math.round((later * 10_000) / decodeMs) / 10 : null;
}
