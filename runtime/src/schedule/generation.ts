// What a generation is: the request as the scheduler takes it, and what one step adds to it. An embedding is asked for
// like a generation that ends with its prompt.

import {
  greedy,
  type GrammarKind,
  type NumericalFault,
  type Pooling,
  type ReasoningIds,
  type SamplingParams,
  type TokenRules,
} from '@llmservice/native';

/** What an answer must be, as the engine compiles it. */
export interface GrammarText {
  readonly kind: GrammarKind;
  readonly text: string;
  /** The reasoning that it comes after; null: none. */
  readonly after: ReasoningIds | null;
}

export interface UsedAdapter {
  /** Of the engine's. */
  readonly number: number;
  /** Of this load of it alone: what one load has computed, no other reuses. */
  readonly key: string;
}

/** One generation, or embedding, asked of the engine. */
export interface GenerateRequest {
  /** Unique among the requests in flight. */
  readonly id: string;
  /** Token ids of the prompt, at least one and fewer than maxModelLen (of an embedding, as many). */
  readonly prompt: Int32Array;
  /** Most tokens to generate (at least 1; 0 for an embedding); the context's end limits it too. */
  readonly maxTokens: number;
  /** What is wanted instead of tokens; `none`: tokens. */
  readonly pooling: Pooling;
  /** Ids that end generation: the model's EOS ids and the request's own. */
  readonly stopTokens: Int32Array;
  readonly sampling: SamplingParams;
  /** What it says of single tokens; null: nothing. */
  readonly rules: TokenRules | null;
  /** The LoRA adapter that it uses; null: the model as it is. */
  readonly adapter: UsedAdapter | null;
  /** Whether the prompt's own tokens are to be scored too; then `sampling.topLogprobs` is set. */
  readonly promptLogprobs: boolean;
  /** Null: anything. */
  readonly grammar: GrammarText | null;
  /** Ends of the prompt's messages, in tokens and ascending: where other prompts are likely to begin to differ. */
  readonly boundaries: readonly number[];
  /** Only requests with the same salt share cached blocks; null: all that have none. */
  readonly cacheSalt: string | null;
  /** While requests wait, every key gets an equal share of the engine. */
  readonly fairnessKey: string;
  /** Each level below another has twice its share; 0 is the usual one. From -8 to 8. */
  readonly priority: number;
  /** How long it may wait for its first row; null: without end. */
  readonly maxQueueMs: number | null;
  /**
   * Where the prompt is computed for another engine, which has as many of its first blocks: with its end the others become
   * readable under its id. Absent: for this one.
   */
  readonly offerFrom?: number;
}

/** What another engine may read of a prompt. */
export interface OfferedKv {
  /** Behind those that the other has. */
  readonly blocks: number;
  /** Whether there is a state behind the last one. */
  readonly snapshot: boolean;
  /** Of the prompt, up to the end of the last block. */
  readonly tokens: number;
}

/** What a request says of its answer that wants nothing particular of it. */
export const plainAnswer = {
  grammar: null,
  stopTokens: new Int32Array(),
  sampling: greedy,
  rules: null,
  adapter: null,
  promptLogprobs: false,
  boundaries: [],
} satisfies Partial<GenerateRequest>;

/** `stop`: a stop token was sampled; `length`: maxTokens or the end of the context. */
export type FinishReason = 'stop' | 'length';

/** Log probabilities of one generated token, under the model's unmodified distribution. */
export interface TokenLogprobs {
  readonly logprob: number;
  /** The most probable alternatives, best first; as many as `sampling.topLogprobs` asked for. */
  readonly top: readonly { readonly token: number; readonly logprob: number }[];
}

/** Score of one of the prompt's own tokens, given those before it. */
export interface PromptScore extends TokenLogprobs {
  readonly token: number;
  /** Its place among all tokens, 1 for the most likely. */
  readonly rank: number;
}

/** Scores of prompt tokens that a step computed, in order. */
export interface Scored {
  readonly id: string;
  readonly scores: readonly PromptScore[];
}

/** One token that a step sampled for a sequence. */
export interface Sampled {
  readonly id: string;
  readonly token: number;
  /** Whether it was drafted, and the model agreed. */
  readonly isDraft: boolean;
  /** Null unless the request asked for logprobs. */
  readonly logprobs: TokenLogprobs | null;
  readonly finish: FinishReason | null;
}

/** The hidden state that was asked for, as the model gave it. */
export interface Embedded {
  readonly id: string;
  readonly embedding: Float32Array;
}

/** A sequence that ended for a numerical fault. */
export interface Faulted {
  readonly id: string;
  readonly fault: NumericalFault;
}

/** What a step gave to sequences that are still wanted, each list in plan order. */
export interface StepOutputs {
  readonly scored: readonly Scored[];
  readonly sampled: readonly Sampled[];
  readonly embedded: readonly Embedded[];
  readonly faulted: readonly Faulted[];
}
