// What the generations of a request were together: tokens, how fast they came, and the phases that they went through side by
// side. Each phase ends when the first of them leaves it, but for the last, which ends with the last token of all.

import type { TokenCounts } from '../keys/token-counts.js';
import type { FinishedGeneration } from './ended-request.js';

/** From and to, on the clock of the generations, in milliseconds. */
export interface Phase {
  readonly from: number;
  readonly to: number;
}

export interface RequestPhases {
  /** Waiting in the engine. Null, as the others: no generation got through it. */
  readonly queue: Phase | null;
  /** From the first row to the first token; of an embedding, to its end. */
  readonly prefill: Phase | null;
  /** From the first token to the last. */
  readonly decode: Phase | null;
}

export function phasesOf(generations: readonly FinishedGeneration[]): RequestPhases {
  const submitted = earliest(generations.map((each) => each.submittedAt));
  const started = earliest(generations.map((each) => each.startedAt));
  const first = earliest(generations.map((each) => each.firstTokenAt));
  const lasts = generations.flatMap((each) => each.lastTokenAt ?? []);
  return {
    queue: phase(submitted, started),
    prefill: phase(started, first),
    decode: phase(first, lasts.length === 0 ? null : Math.max(...lasts)),
  };
}

/** Milliseconds; null of none. */
export function lengthOf(phase: Phase | null): number | null {
  return phase === null ? null : Math.round((phase.to - phase.from) * 100) / 100;
}

function earliest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function phase(from: number | null, to: number | null): Phase | null {
  return from === null || to === null ? null : { from, to: Math.max(from, to) };
}

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
