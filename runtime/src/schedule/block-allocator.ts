// Hands out KV blocks by number. A block has one owner at a time; giving back what was not taken is a bug.

/** Free list of `count` blocks, numbered from 0. Deterministic: last given back, first taken. */
export class BlockAllocator {
  readonly count: number;
  readonly #free: Int32Array;
  readonly #taken: Uint8Array;
  #available: number;

  constructor(count: number) {
    this.count = count;
    this.#free = Int32Array.from({ length: count }, (_, i) => count - 1 - i);
    this.#taken = new Uint8Array(count);
    this.#available = count;
  }

  /** Blocks that can be taken now. */
  get available(): number {
    return this.#available;
  }

  /** Takes one block. @throws when none is left (check `available`). */
  take(): number {
    const block = this.#available === 0 ? undefined : this.#free[this.#available - 1];
    if (block === undefined) throw new Error('no KV block is free: check `available` before taking one');
    this.#available--;
    this.#taken[block] = 1;
    return block;
  }

  /** Gives blocks back. @throws when one of them is not taken. */
  give(blocks: readonly number[]): void {
    for (const block of blocks) {
      if (this.#taken[block] !== 1) throw new Error(`KV block ${block} was given back but is not taken`);
      this.#taken[block] = 0;
      this.#free[this.#available++] = block;
    }
  }
}
