// What the scheduler counts.

import { DraftTotals, type DraftStats } from './draft-totals.js';

/** Figures of the scheduler; totals count from its creation. */
export interface SchedulerStats {
  readonly running: number;
  readonly waiting: number;
  /** Held by running sequences. */
  readonly blocksUsed: number;
  /** Kept for later requests until they are needed. */
  readonly blocksCached: number;
  readonly blocksTotal: number;
  /** Cached blocks that have the recurrent state at their end. */
  readonly snapshotsKept: number;
  readonly preemptionsTotal: number;
  readonly generationTokensTotal: number;
  /** Prompt tokens looked up in the prefix cache, and those of them found, by requests that started. */
  readonly prefixCacheQueriesTotal: number;
  readonly prefixCacheHitsTotal: number;
  readonly drafts: DraftStats;
}

/** The totals among them. */
export class SchedulerTotals {
  readonly drafts: DraftTotals;
  #preemptions = 0;
  #generationTokens = 0;
  #queries = 0;
  #hits = 0;

  /** @param draftPositions drafts that a sequence may have at once */
  constructor(draftPositions: number) {
    this.drafts = new DraftTotals(draftPositions);
  }

  /** A request began to run for the first time. */
  started(queried: number, hits: number): void {
    this.#queries += queried;
    this.#hits += hits;
  }

  generated(): void {
    this.#generationTokens++;
  }

  preempted(): void {
    this.#preemptions++;
  }

  /** By their names in `SchedulerStats`. */
  get figures() {
    return {
      preemptionsTotal: this.#preemptions,
      generationTokensTotal: this.#generationTokens,
      prefixCacheQueriesTotal: this.#queries,
      prefixCacheHitsTotal: this.#hits,
      drafts: this.drafts.stats,
    } satisfies Partial<SchedulerStats>;
  }
}
