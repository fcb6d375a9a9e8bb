// A sequence as the engine is given it.

import type { Constraint } from './grammar.js';
import type { OrNeutral } from './numbers.js';
import type { SamplingParams, TokenRules } from './sampling.js';

export type Pooling = 'none' | 'last' | 'mean' | 'cls';

/** Puts a sequence into a free slot. After preemption it is admitted again with what it had generated. */
export interface Admission {
  readonly slot: number;
  /** Prompt, then tokens generated before a preemption. */
  readonly tokens: Int32Array;
  /**
   * How many of `tokens` are computed already: their KV lies in the blocks that the slot is given first. A whole number
   * of blocks, and at least one token is left; for hybrid models also a multiple of 64 within the prompt.
   */
  readonly cachedTokens: number;
  /** Where a hybrid model's state after `cachedTokens` was saved; null when it starts at 0 or keeps no state. */
  readonly snapshot: number | null;
  /** How many of `tokens` are the client's prompt (fixes the chunked/recurrent border of hybrid models). */
  readonly promptLength: number;
  /** Generation ends when the sequence has this many tokens, prompt included. */
  readonly maxLength: number;
  /** Ids that end generation (reported as `stop`, not part of the text). */
  readonly stopTokens: Int32Array;
  readonly sampling: SamplingParams;
  /** Report the logprobs of the prompt's own tokens too; needs `sampling.topLogprobs` and no `cachedTokens`. */
  readonly promptLogprobs: boolean;
  /**
   * Instead of tokens, the hidden state after the final norm: of the last token, the mean of all or that of the first
   * (then no `cachedTokens`). The sequence ends with its prompt: `maxLength` is its length.
   */
  readonly pooling: Pooling;
  /** What is generated must be; null: anything. */
  readonly constraint: Constraint | null;
  /** Null: none. Rules and constraint together may leave no token: a fault `deadEnd`. */
  readonly rules: OrNeutral<TokenRules>;
  /** Number of the adapter that the sequence uses; 0: none. */
  readonly adapter: number;
}
