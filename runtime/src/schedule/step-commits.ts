// What steps add to the prefix cache once they have run: the blocks that they complete and the states that they save.
// Until then nobody may reuse them; and of a sequence that left meanwhile nothing is added. Two steps may be in flight.

import type { CachedBlock } from './cached-block.js';
import type { PlanBuilder } from './plan-builder.js';
import type { PrefixCache } from './prefix-cache.js';
import type { RunningBatch } from './running-batch.js';
import type { Running } from './sequence.js';
import type { Snapshot } from './snapshot-pool.js';

/** A state that a step in flight writes. */
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

/** What one step does. */
class StepWork {
  /** Rows of known tokens, and of those that the step before samples. */
  readonly rows = new Map<Running, number>();
  readonly saves: Save[] = [];
  replacements: readonly Replacement[] = [];
}

export class StepCommits {
  readonly #cache: PrefixCache;
  readonly #batch: RunningBatch;
  /** Of the step that is being planned. */
  #planned = new StepWork();
  /** Of the steps in flight, in their order. */
  readonly #inFlight: StepWork[] = [];
  #replacements: Replacement[] = [];

  constructor(cache: PrefixCache, batch: RunningBatch) {
    this.#cache = cache;
    this.#batch = batch;
  }

  /** The step computes `rows` rows of this sequence, up to its `computed`; has it save the states on the way. */
  advance(step: PlanBuilder, running: Running, rows: number): void {
    const { savePlaces, slot } = running;
    this.#planned.rows.set(running, rows);
    for (let place = savePlaces[0]; place !== undefined && place <= running.computed; place = savePlaces[0]) {
      savePlaces.shift();
      const snapshot = this.#cache.reserveSnapshot();
      if (snapshot === null) continue;
      step.save(slot, place, snapshot.index);
      this.#planned.saves.push({ running, position: place, snapshot });
    }
  }

  /** The step will run: has it put shared blocks in the place of equal ones. */
  begin(step: PlanBuilder): void {
    this.#planned.replacements = this.#replacements.filter(({ running }) => this.#batch.holds(running));
    for (const { running, index, block } of this.#planned.replacements)
      step.replace(running.slot, index, block);
    this.#inFlight.push(this.#planned);
    this.#planned = new StepWork();
    this.#replacements = [];
  }

  /** The step that was planned last does not run: its rows, saves and replacements are still to come. */
  withdraw(): void {
    const work = this.#inFlight.pop();
    if (work === undefined) return;
    for (const [running, rows] of work.rows) {
      running.computed -= rows;
      running.verifyingAhead = 0;
    }
    for (const { running, position, snapshot } of work.saves.toReversed()) {
      running.savePlaces.unshift(position);
      this.#cache.dropSnapshot(snapshot);
    }
    this.#replacements = [...work.replacements, ...this.#replacements];
  }

  /** The first step in flight has run. */
  commit(): void {
    const work = this.#inFlight.shift();
    if (work === undefined) return;
    const later = this.#inFlight[0]?.rows;
    for (const running of work.rows.keys()) {
      if (!this.#batch.holds(running)) continue;
      this.#cache.commit(running, running.computed - (later?.get(running) ?? 0), this.#noteReplacement);
    }
    for (const { running, position, snapshot } of work.saves) {
      if (this.#batch.holds(running)) this.#cache.keepSnapshot(snapshot, running, position);
      else this.#cache.dropSnapshot(snapshot);
    }
  }

  readonly #noteReplacement = (running: Running, index: number, block: number): void => {
    this.#replacements.push({ running, index, block });
  };
}
