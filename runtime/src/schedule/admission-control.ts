// Admission control: who begins next, with what of it the prefix cache has. Always the head of the queue, and only once
// there are a slot, blocks for all its known tokens, and rows. One that needs a large part of the KV cache and finds too
// few blocks is set aside, and others begin in the room that it does not need: once those have ended that began before it
// there is room for it, whoever came by. One that leaves others next to nothing is set aside alone: behind it fair turns
// decide who is next, and not a line of its like.

import type { PlanBuilder } from './plan-builder.js';
import type { Match, PrefixCache } from './prefix-cache.js';
import type { RunningBatch } from './running-batch.js';
import type { SchedulerTotals } from './scheduler-stats.js';
import type { Running, Sequence } from './sequence.js';
import type { WaitingQueue } from './waiting-queue.js';

/** Of the KV cache: what needs less finds room soon. */
const largePart = 1 / 4;

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

/** Why a sequence does not begin with this step. */
type Refusal = 'no rows' | 'no blocks';

export class AdmissionControl {
  readonly #waiting: WaitingQueue;
  readonly #batch: RunningBatch;
  readonly #cache: PrefixCache;
  readonly #totals: SchedulerTotals;
  readonly #numBlocks: number;
  /** Blocks that were too few for a sequence, so that it is looked up again only when there are more. */
  readonly #tooFew = new WeakMap<Sequence, number>();
  /** Those that began while others were set aside. */
  readonly #passed = new Set<Running>();

  constructor(
    waiting: WaitingQueue,
    batch: RunningBatch,
    cache: PrefixCache,
    totals: SchedulerTotals,
    numBlocks: number,
  ) {
    this.#waiting = waiting;
    this.#batch = batch;
    this.#cache = cache;
    this.#totals = totals;
    this.#numBlocks = numBlocks;
  }

  /** Admits a sequence to the step: the first that was set aside, or the head of the queue; null: no room for either. */
  next(step: PlanBuilder): Admitted | null {
    if (this.#batch.isFull) return null;
    const { aside } = this.#waiting;
    if (aside === null) {
      this.#passed.clear();
    } else {
      const admitted = this.#admit(step, aside, Infinity, () => this.#waiting.shiftAside());
      if (admitted === 'no rows') return null;
      if (admitted !== 'no blocks') return admitted;
    }
    return this.#admitHead(step);
  }

  #admitHead(step: PlanBuilder): Admitted | null {
    for (let head = this.#waiting.head; head !== null; head = this.#waiting.head) {
      const { aside } = this.#waiting;
      const admitted = this.#admit(step, head, this.#roomBeside(aside), () => this.#waiting.shift());
      if (typeof admitted === 'object') {
        if (aside !== null) this.#passed.add(admitted.running);
        return admitted;
      }
      const blocks = this.#batch.blocksFor(head.length);
      const isLarge = blocks > this.#numBlocks * largePart;
      const mayWait = aside === null || this.#mayWaitBehind(aside, blocks);
      if (admitted === 'no rows' || !isLarge || !mayWait) return null;
      this.#waiting.setAside();
    }
    return null;
  }

  /** Only what can never begin before it, and where what is not large still can. */
  #mayWaitBehind(aside: Sequence, blocks: number): boolean {
    const room = this.#numBlocks - this.#batch.blocksFor(aside.length);
    return blocks > room && room >= this.#numBlocks * largePart;
  }

  /** Blocks that others may still take while a sequence waits that was set aside. */
  #roomBeside(aside: Sequence | null): number {
    if (aside === null) return Infinity;
    let room = this.#numBlocks - this.#batch.blocksFor(aside.length);
    for (const running of this.#passed) {
      if (this.#batch.holds(running)) room -= running.blocks.length;
      else this.#passed.delete(running);
    }
    return room;
  }

  /** @param room blocks that it may take of those that are available */
  #admit(step: PlanBuilder, sequence: Sequence, room: number, leaveQueue: () => void): Admitted | Refusal {
    const blocks = Math.min(room, this.#cache.available);
    if (blocks <= (this.#tooFew.get(sequence) ?? -1)) return 'no blocks';
    const match = this.#cache.find(sequence);
    const rows = step.chunk(match.cached, sequence.length - match.cached);
    if (rows === 0) return 'no rows';
    const all = this.#batch.blocksFor(sequence.length);
    const needed = all - match.path.length;
    if (all > room || needed > this.#cache.availableBeside(match.path)) {
      this.#tooFew.set(sequence, blocks);
      return 'no blocks';
    }
    this.#tooFew.delete(sequence);
    leaveQueue();
    const running = this.#batch.enter(step, sequence, match);
    for (let i = 0; i < needed; i++) this.#batch.takeBlock(step, running);
    return { running, rows, started: sequence.started ? null : this.#start(sequence, match) };
  }

  #start(sequence: Sequence, match: Match): Started {
    sequence.started = true;
    const cachedTokens = Math.min(match.cached, sequence.reusedAtMost);
    this.#totals.started(match.queried, cachedTokens);
    return { id: sequence.request.id, cachedTokens };
  }
}
