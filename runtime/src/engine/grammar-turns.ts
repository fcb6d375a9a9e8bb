// Whose grammar is compiled next. Keys take turns. Every compilation first gets a short time; one that outgrows it continues
// among few that may be slow, of which a key has one, or begins again when there is room. So one place is free again
// within the short time, whatever is compiled: what is small waits for no one that is slow.

export interface TurnLimits {
  readonly atOnce: number;
  /** Fewer than `atOnce`. */
  readonly slowAtOnce: number;
}

interface Entry {
  readonly key: string;
  slow: boolean;
}

export class GrammarTurns<Job> {
  readonly #limits: TurnLimits;
  /** In the order in which they came, whatever their key. */
  readonly #waiting = new Map<Job, Entry>();
  readonly #running = new Map<Job, Entry>();
  /** When keys last had a turn. */
  readonly #lastTurns = new Map<string, number>();
  #turns = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** @param slow whether it is known to be */
  add(job: Job, key: string, slow = false): void {
    this.#waiting.set(job, { key, slow });
  }

  /** It ended, or nobody waits for it any more. */
  remove(job: Job): void {
    this.#running.delete(job);
    this.#waiting.delete(job);
    // Not by key: one that leaves and comes back would always be first.
    if (this.#running.size + this.#waiting.size === 0) this.#lastTurns.clear();
  }

  /** Runs from now on; null: none may. */
  next(): Job | null {
    if (this.#running.size >= this.#limits.atOnce) return null;
    let best: { readonly job: Job; readonly entry: Entry; readonly rank: readonly [number, number] } | null =
      null;
    for (const [job, entry] of this.#waiting) {
      if (entry.slow && !this.#mayBeSlow(entry.key)) continue;
      const rank = [this.#count(entry.key), this.#lastTurns.get(entry.key) ?? 0] as const;
      if (best === null || rank[0] < best.rank[0] || (rank[0] === best.rank[0] && rank[1] < best.rank[1]))
        best = { job, entry, rank };
    }
    if (best === null) return null;
    this.#waiting.delete(best.job);
    this.#running.set(best.job, best.entry);
    this.#lastTurns.set(best.entry.key, ++this.#turns);
    return best.job;
  }

  /** It has run for the short time. False: it is to end, and then to wait `again`. */
  outgrew(job: Job): boolean {
    const entry = this.#running.get(job);
    if (entry === undefined || entry.slow) return true;
    entry.slow = this.#mayBeSlow(entry.key);
    return entry.slow;
  }

  /** It ended before it was done, and waits once more. */
  again(job: Job, slow: boolean): void {
    const entry = this.#running.get(job);
    this.#running.delete(job);
    if (entry !== undefined) this.add(job, entry.key, slow);
  }

  #mayBeSlow(key: string): boolean {
    const slow = [...this.#running.values()].filter((each) => each.slow);
    return slow.length < this.#limits.slowAtOnce && slow.every((each) => each.key !== key);
  }

  #count(key: string): number {
    return [...this.#running.values()].filter((each) => each.key === key).length;
  }
}
