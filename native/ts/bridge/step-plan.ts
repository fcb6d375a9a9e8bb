// One step of the engine, as it is asked for.

import type { Admission } from './admission.js';
import type { Flat } from './numbers.js';

/**
 * One forward step over many sequences: the only way to compute. Order: releases, admissions, replacements, block
 * appends, rows, saves. A row entry advances its slot by `count` tokens from where the slot stands; when that
 * reaches the last known token, one new token is sampled and kept in the slot. Rows beyond it verify drafts that the
 * slot holds: each that is equal to the token sampled in its place gives one more token. Drafts are gone after the
 * slot's next step; how many new ones it holds then, the result says.
 *
 * A block whose tokens are all computed may be in any number of tables, and keeps its content when no table has it any
 * more, until it is appended to be written. A block that is still written to is in one table.
 */
export interface StepPlan {
  /** Slots to free. */
  readonly release: Int32Array;
  readonly admit: readonly Admission[];
  /** Appends to the slots' block tables. */
  readonly blocks: Flat<SlotBlock>;
  /** The sum of counts is at most maxNumBatchedTokens. */
  readonly rows: Flat<RowEntry>;
  readonly replace: Flat<Replacement>;
  /** Of hybrid models. */
  readonly saves: Flat<StateSave>;
  /**
   * Drafts to make at most for each sequence of this step that is left with one known token to compute; up to
   * speculative.tokens.
   */
  readonly drafts: number;
  /** Null: a step that counts. */
  readonly warmup: WarmupRun | null;
  /**
   * Made before the result of the step before it was known: rows and saves of sequences that have ended by then are left
   * out, and the result has nothing of them; so are rows for drafts that a slot turns out not to hold, or has no block
   * for. Without it the former break a rule, as do drafts without a block.
   */
  readonly ahead: boolean;
}

export interface SlotBlock {
  readonly slot: number;
  readonly block: number;
}

/** At most `count` rows: known tokens, then drafts. 1 for a decode without drafts, and at most 1 more for each draft. */
export interface RowEntry {
  readonly slot: number;
  readonly count: number;
}

/** The slot's whole, computed block `index` is replaced by one with the same KV. */
export interface Replacement {
  readonly slot: number;
  readonly index: number;
  readonly block: number;
}

/**
 * Keeps the state after the slot's first `position` tokens, which rows of this step compute; a multiple of 64 within the
 * prompt, ascending within a slot.
 */
export interface StateSave {
  readonly slot: number;
  readonly position: number;
  readonly snapshot: number;
}

/**
 * Of a step that is run for its time alone, before an engine serves. `cachedTokens` of its admissions need neither
 * blocks that anybody has computed nor a snapshot: whatever lies there is taken. A row entry that goes beyond the known
 * tokens makes up its drafts, and sequences continue after any end. Once all slots that it admitted are released, nothing
 * is left of it.
 */
export interface WarmupRun {
  /** Drafts that each sequence's last step is taken to have had right, up to speculative.tokens. */
  readonly acceptedDrafts: number;
}
