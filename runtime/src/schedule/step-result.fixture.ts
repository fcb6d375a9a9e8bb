// The result of a step of the stand-in engine, which gives tokens and embeddings and nothing of what else an engine can.

import type { StepResult } from '@llmservice/native';

export interface SampledToken {
  readonly slot: number;
  readonly token: number;
  readonly finish: number;
  /** In place of the token, where one was asked for: the hash of all tokens. */
  readonly embedding: number | null;
}

/** A prompt token that a step scored: its rank is its position, its logprob the negative of it. */
export interface ScoredToken {
  readonly slot: number;
  readonly position: number;
}

/** @param drafts per slot that holds some: the slot, their number, the drafts */
export function resultOf(
  all: readonly SampledToken[],
  drafts: readonly number[],
  scored: readonly ScoredToken[],
  rows: number,
): StepResult {
  const sampled = all.filter(({ embedding }) => embedding === null);
  const embedded = all.filter(({ embedding }) => embedding !== null);
  return {
    slots: Int32Array.from(sampled.map(({ slot }) => slot)),
    tokens: Int32Array.from(sampled.map(({ token }) => token)),
    finish: Uint8Array.from(sampled.map(({ finish }) => finish)),
    logprobs: new Float32Array(sampled.length).fill(NaN),
    topOffsets: new Int32Array(sampled.length + 1),
    topTokens: new Int32Array(0),
    topLogprobs: new Float32Array(0),
    drafts: Int32Array.from(drafts),
    logitHashes: new BigUint64Array(0),
    prompt: {
      slots: Int32Array.from(scored, ({ slot }) => slot),
      positions: Int32Array.from(scored, ({ position }) => position),
      logprobs: Float32Array.from(scored, ({ position }) => -position),
      ranks: Int32Array.from(scored, ({ position }) => position),
      topOffsets: new Int32Array(scored.length + 1),
      topTokens: new Int32Array(0),
      topLogprobs: new Float32Array(0),
    },
    embeddings: {
      slots: Int32Array.from(embedded, ({ slot }) => slot),
      // As wide as an embedding of one number can be: a hash has 32 bits, a float 24.
      values: Float32Array.from(embedded, ({ embedding }) => (embedding ?? NaN) & 0xffffff),
    },
    faults: [],
    rows,
    computeMicros: 1,
    graphs: { captured: 0, replayed: 0, direct: 0, refused: 0, bytes: 0 },
  };
}
