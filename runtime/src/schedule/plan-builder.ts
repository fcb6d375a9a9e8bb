// Collects one step's plan within its row budget.

import type { Admission, StepPlan } from '@llmservice/native';
import type { Running } from './sequence.js';

/** Prefill chunks end on multiples of this, or at the last known token: the chunk of hybrid models' prefill form. */
export const chunkMultiple = 64;

/** One step under construction. */
export class PlanBuilder {
  #budget: number;
  /** Rows for prompts; a chunk may pass them by less than `chunkMultiple`, so that no rest of it costs a step. */
  #forPrompts = Infinity;
  #withheld = 0;
  readonly #divides: boolean;
  readonly #admit: Admission[] = [];
  readonly #replace: number[] = [];
  readonly #blocks: number[] = [];
  readonly #rows: number[] = [];
  readonly #saves: number[] = [];
  /** Drafts to make at most for each sequence that is left with one known token to compute. */
  readonly drafts: number;
  /** Drafts that each sequence holds at most, where the step before has yet to say who continues; null: it has. */
  readonly held: number | null;

  /**
   * @param budget rows that the step may have
   * @param drafts see `drafts`
   * @param held see `held`
   * @param divides whether a sequence may be computed in several steps
   */
  constructor(budget: number, drafts: number, held: number | null, divides: boolean) {
    this.#budget = budget;
    this.#divides = divides;
    this.drafts = drafts;
    this.held = held;
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  /** Rows that are left. */
  get left(): number {
    return Math.max(0, Math.min(this.#budget, this.#forPrompts) - this.#withheld);
  }

  /** From now on there are about so many rows for prompts, as far as there are rows at all. */
  limitPrompts(rows: number): void {
    this.#forPrompts = rows;
  }

  /** Keeps so many rows back from now on; 0: all are there again. */
  withhold(rows: number): void {
    this.#withheld = Math.min(rows, this.#budget);
  }

  /** Whether so many rows, the last of a prompt, may all be in this step. */
  hasRoomFor(remaining: number): boolean {
    return remaining <= this.#budget - this.#withheld && remaining < this.#promptRowsLeft + chunkMultiple;
  }

  /** Rows that a sequence with `remaining` tokens to compute from position `computed` may have now; 0: none. */
  chunk(computed: number, remaining: number): number {
    if (this.left === 0) return 0;
    if (this.hasRoomFor(remaining)) return remaining;
    const rows = this.#budget - this.#withheld;
    if (!this.#divides) return remaining <= rows ? remaining : 0;
    const most = Math.floor((computed + rows) / chunkMultiple);
    const wanted = Math.ceil((computed + this.#promptRowsLeft) / chunkMultiple);
    return Math.max(0, Math.min(most, wanted) * chunkMultiple - computed);
  }

  get #promptRowsLeft(): number {
    return this.#forPrompts - this.#withheld;
  }

  /** @param snapshot state of the tokens computed already; null: there are none, or the model keeps no state */
  admit({ sequence, slot, computed }: Running, snapshot: number | null): void {
    const { prompt, stopTokens, sampling, pooling, rules, adapter } = sequence.request;
    this.#admit.push({
      slot,
      tokens: sequence.tokens(),
      cachedTokens: computed,
      snapshot,
      promptLength: prompt.length,
      maxLength: sequence.maxLength,
      stopTokens,
      sampling,
      promptLogprobs: sequence.wantsScores,
      pooling,
      constraint: sequence.constraint,
      rules,
      adapter: adapter?.number ?? 0,
    });
  }

  /** The whole block at `index` of a slot's table is replaced by one that holds the same. */
  replace(slot: number, index: number, block: number): void {
    this.#replace.push(slot, index, block);
  }

  append(slot: number, block: number): void {
    this.#blocks.push(slot, block);
  }

  row(slot: number, count: number): void {
    this.#rows.push(slot, count);
    this.#budget -= count;
    this.#forPrompts -= count;
  }

  /** Keeps the state after the slot's first `position` tokens, which this step computes. */
  save(slot: number, position: number, snapshot: number): void {
    this.#saves.push(slot, position, snapshot);
  }

  build(release: readonly number[]): StepPlan {
    return {
      release: Int32Array.from(release),
      admit: this.#admit,
      replace: Int32Array.from(this.#replace),
      blocks: Int32Array.from(this.#blocks),
      rows: Int32Array.from(this.#rows),
      saves: Int32Array.from(this.#saves),
      drafts: this.drafts,
      warmup: null,
      ahead: this.held !== null,
    };
  }
}
