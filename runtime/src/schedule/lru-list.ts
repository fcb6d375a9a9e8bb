// A list in order of last use. Entries carry their own links, so that every operation takes constant time.

/** What may stand in one list at a time. */
export abstract class LruEntry {
  older: this | null = null;
  newer: this | null = null;
}

/** Oldest first. */
export class LruList<T extends LruEntry> {
  #oldest: T | null = null;
  #newest: T | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get oldest(): T | null {
    return this.#oldest;
  }

  /** Puts an entry that stands in no list at the end, as the one used last. */
  push(entry: T): void {
    entry.older = this.#newest;
    entry.newer = null;
    if (this.#newest === null) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
    this.#size++;
  }

  /** Takes out an entry of this list. */
  remove(entry: T): void {
    if (entry.older === null) this.#oldest = entry.newer;
    else entry.older.newer = entry.newer;
    if (entry.newer === null) this.#newest = entry.older;
    else entry.newer.older = entry.older;
    entry.older = null;
    entry.newer = null;
    this.#size--;
  }
}
