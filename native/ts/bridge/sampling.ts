// How the next token of a sequence is drawn.

import type { ReasoningBudget } from './reasoning.js';
import type { Float32 } from './numbers.js';

/** Sampling of one sequence; every field has its value in `greedy` when not asked for. */
export interface SamplingParams {
  /** 0 is greedy. */
  readonly temperature: Float32;
  readonly topP: Float32;
  /** 0: off. */
  readonly topK: number;
  readonly minP: Float32;
  /** Locally typical sampling; 1: off. */
  readonly typicalP: Float32;
  readonly seed: bigint;
  readonly repetitionPenalty: Float32;
  readonly presencePenalty: Float32;
  readonly frequencyPenalty: Float32;
  /** Alternatives to report per token, 0–20; null: no logprobs at all. */
  readonly topLogprobs: number | null;
}

/** The likeliest token, no penalties, no logprobs: each field has its neutral value. */
export const greedy: SamplingParams = {
  temperature: 0,
  topP: 1,
  topK: 0,
  minP: 0,
  typicalP: 1,
  seed: 0n,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  topLogprobs: null,
};

/** What a request says of single tokens, whatever the model thinks of them. */
export interface TokenRules {
  /** Ids, each once. */
  readonly biased: Int32Array;
  /** What is added to the logit of each of `biased`, before the penalties. */
  readonly biases: Float32Array;
  /** Ids that alone may be generated, ascending; empty: all. */
  readonly allowed: Int32Array;
  /** Sequences of ids that generation must not complete, one after the other. */
  readonly banned: Int32Array;
  /** Where each of them ends in `banned`. */
  readonly bannedEnds: Int32Array;
  /** Tokens to generate before one of `stopTokens` may be. */
  readonly minTokens: number;
  /**
   * Ids, each once and up to 128, whose logprobs are reported with each token in place of those of the likeliest; needs
   * `sampling.topLogprobs`.
   */
  readonly reported: Int32Array;
  /** Null: without bound. */
  readonly reasoning: ReasoningBudget | null;
}
