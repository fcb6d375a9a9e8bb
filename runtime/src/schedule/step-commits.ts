// What a step adds to the prefix cache once it has run: the blocks that it completes and the states that it saves. Until
// then nobody may reuse them; and of a sequence that left meanwhile nothing is added.

import type { CachedBlock } from './cached-block.js';
import type { PlanBuilder } from './plan-builder.js';
import type { PrefixCache } from './prefix-cache.js';
import type { RunningBatch } from './running-batch.js';
import type { Running } from './sequence.js';
import type { Snapshot } from './snapshot-pool.js';

/** A state that the step in flight writes. */
interface Save {
  readonly running: Running;
  readonly position: number;
  readonly snapshot: Snapshot<CachedBlock>;
}

/** A block of another sequence that takes the place of an equal one. */
interface Replacement {
  readonly running: Running;
  readonly index: number;
  readonly block: number;
}

export class StepCommits {
  readonly #cache: PrefixCache;
  readonly #batch: RunningBatch;
  #advanced: Running[] = [];
  #saves: Save[] = [];
  #replacements: Replacement[] = [];

  constructor(cache: PrefixCache, batch: RunningBatch) {
    this.#cache = cache;
    this.#batch = batch;
  }

  /** The step computes rows of this sequence, up to its `computed`; has it save the states on the way. */
  advance(step: PlanBuilder, running: Running): void {
    this.#advanced.push(running);
    const { savePlaces, slot } = running;
    for (let place = savePlaces[0]; place !== undefined && place <= running.computed; place = savePlaces[0]) {
      savePlaces.shift();
      const snapshot = this.#cache.reserveSnapshot();
      if (snapshot === null) continue;
      step.save(slot, place, snapshot.index);
      this.#saves.push({ running, position: place, snapshot });
    }
  }

  /** Has the next step put shared blocks in the place of equal ones. */
  planReplacements(step: PlanBuilder): void {
    for (const { running, index, block } of this.#replacements) {
      if (this.#batch.holds(running)) step.replace(running.slot, index, block);
    }
    this.#replacements = [];
  }

  /** The step has run. */
  commit(): void {
    for (const running of this.#advanced) {
      if (this.#batch.holds(running)) this.#cache.commit(running, this.#noteReplacement);
    }
    for (const { running, position, snapshot } of this.#saves) {
      if (this.#batch.holds(running)) this.#cache.keepSnapshot(snapshot, running, position);
      else this.#cache.dropSnapshot(snapshot);
    }
    this.#advanced = [];
    this.#saves = [];
  }

  readonly #noteReplacement = (running: Running, index: number, block: number): void => {
    this.#replacements.push({ running, index, block });
  };
}
