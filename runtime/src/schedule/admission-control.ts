// Admission control: who begins next, with what of it the prefix cache has. Always the head of the queue, and only once
// there are a slot, blocks for all its known tokens, and rows: nobody overtakes one that is too large for now.

import type { PlanBuilder } from './plan-builder.js';
import type { Match, PrefixCache } from './prefix-cache.js';
import type { RunningBatch } from './running-batch.js';
import type { SchedulerTotals } from './scheduler-stats.js';
import type { Running, Sequence } from './sequence.js';
import type { WaitingQueue } from './waiting-queue.js';

/** A request that begins to run. */
export interface Started {
  readonly id: string;
  /** Tokens of its prompt that the prefix cache had. */
  readonly cachedTokens: number;
}

interface Admitted {
  readonly running: Running;
  /** Rows of its first chunk. */
  readonly rows: number;
  /** Null when it ran before and was preempted. */
  readonly started: Started | null;
}

export class AdmissionControl {
  readonly #waiting: WaitingQueue;
  readonly #batch: RunningBatch;
  readonly #cache: PrefixCache;
  readonly #totals: SchedulerTotals;
  /** The head of the queue as it was found too large, so that it is looked up again only when more blocks are there. */
  #tooLarge: { readonly sequence: Sequence; readonly available: number } | null = null;

  constructor(waiting: WaitingQueue, batch: RunningBatch, cache: PrefixCache, totals: SchedulerTotals) {
    this.#waiting = waiting;
    this.#batch = batch;
    this.#cache = cache;
    this.#totals = totals;
  }

  /** Admits the head of the queue to the step; null when there is none, or no room for it. */
  next(step: PlanBuilder): Admitted | null {
    const head = this.#waiting.head;
    if (head === null || this.#batch.isFull || this.#isStillTooLarge(head)) return null;
    const match = this.#cache.find(head);
    const rows = step.chunk(match.cached, head.length - match.cached);
    if (rows === 0) return null;
    const needed = this.#batch.blocksFor(head.length) - match.path.length;
    if (needed > this.#cache.availableBeside(match.path)) {
      this.#tooLarge = { sequence: head, available: this.#cache.available };
      return null;
    }
    this.#waiting.shift();
    const running = this.#batch.enter(step, head, match);
    for (let i = 0; i < needed; i++) this.#batch.takeBlock(step, running);
    return { running, rows, started: head.started ? null : this.#start(head, match) };
  }

  #isStillTooLarge(sequence: Sequence): boolean {
    return this.#tooLarge?.sequence === sequence && this.#cache.available <= this.#tooLarge.available;
  }

  #start(sequence: Sequence, match: Match): Started {
    sequence.started = true;
    this.#totals.started(match);
    return { id: sequence.request.id, cachedTokens: match.cached };
  }
}
