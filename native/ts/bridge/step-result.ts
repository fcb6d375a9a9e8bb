// What a step made.

/** Why a sequence ended with this token. */
export const finishCodes = { none: 0, stop: 1, length: 2, numericalFault: 3 } as const;

/** One entry per sampled token; those of one slot stand together, in order, and slots in plan order. */
export interface StepResult {
  /** (S) slot of each token. */
  readonly slots: Int32Array;
  /** (S) sampled ids. */
  readonly tokens: Int32Array;
  /** (S) a value of finishCodes. */
  readonly finish: Uint8Array;
  /** (S) logprob of the sampled id under the unmodified distribution; NaN where not asked for. */
  readonly logprobs: Float32Array;
  /** (S+1) offsets into the two arrays below. */
  readonly topOffsets: Int32Array;
  readonly topTokens: Int32Array;
  readonly topLogprobs: Float32Array;
  /** Of each slot that holds drafts now: slot, count, and as many ids. */
  readonly drafts: Int32Array;
  /** (S) of the bits of the row that the id was sampled from; empty unless `logitHashes` was asked for. */
  readonly logitHashes: BigUint64Array;
  /** Of sequences that asked for them: prompt tokens (never the first) whose predecessor was computed in this step. */
  readonly prompt: PromptLogprobs;
  readonly embeddings: Embeddings;
  /** Of every sequence that ended in this step for a numerical fault, whether it was to sample or not. */
  readonly faults: readonly NumericalFault[];
  /** Rows that were computed: those of the plan, but of sequences that had ended. */
  readonly rows: number;
  /** Time inside the engine, in microseconds. */
  readonly computeMicros: number;
  readonly graphs: GraphCounts;
}

/** Steps that ran as graphs of launches since the engine was made, on this rank; all 0 on backends that make none. */
export interface GraphCounts {
  readonly captured: number;
  readonly replayed: number;
  /** Ran launch by launch. */
  readonly direct: number;
  /** Of these, because the device had no room for a graph. */
  readonly refused: number;
  /** That the device had less, by its driver, after the graphs that are kept had first run. */
  readonly bytes: number;
}

/** One entry per sequence with `pooling` whose prompt ended in this step. */
export interface Embeddings {
  /** (E) */
  readonly slots: Int32Array;
  /** (E, hidden), not normalized. */
  readonly values: Float32Array;
}

/** What is wrong with a sequence's numbers, and where in the forward pass it was first seen; or that it cannot continue. */
export interface NumericalFault {
  readonly slot: number;
  /** Index of the token whose row it was first seen in. */
  readonly position: number;
  readonly kind: FaultKind;
  /** Null: before the first layer, or after the last. */
  readonly layer: number | null;
  /** The op whose output it is: `embedding`, `input norm`, `attention`, `Gated DeltaNet`, `feed-forward` and so on. */
  readonly part: string;
}

/**
 * `notFinite`: NaN or infinity; `collapsed`: all logits are equal; `stuck`: one token came out again and again, from
 * logits equal to the last bit; `deadEnd`: the numbers are sound, and its constraint and rules allow no token;
 * `slowConstraint`: its constraint took longer to compute what it allows than the other sequences of a step can wait.
 */
export type FaultKind = 'notFinite' | 'collapsed' | 'stuck' | 'deadEnd' | 'slowConstraint';

/** One entry per prompt token, in plan order and then by position. */
export interface PromptLogprobs {
  /** (P) */
  readonly slots: Int32Array;
  /** (P) index of the token in its sequence. */
  readonly positions: Int32Array;
  /** (P) logprob of that token, given those before it. */
  readonly logprobs: Float32Array;
  /** (P) its place among all tokens by logprob, 1 for the most likely. */
  readonly ranks: Int32Array;
  /** (P+1) offsets into the two arrays below. */
  readonly topOffsets: Int32Array;
  readonly topTokens: Int32Array;
  readonly topLogprobs: Float32Array;
}
