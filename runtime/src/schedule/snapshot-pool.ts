// Hands out the engine's places for snapshots of recurrent state. One that is kept for a cached block may be taken
// away again, least recently used first: the block's KV outlives it.

import { LruEntry, LruList } from './lru-list.js';

/** One place; `owner` is what its state belongs to, null while it is free or being written. */
export class Snapshot<Owner> extends LruEntry {
  readonly index: number;
  owner: Owner | null = null;
  /** Who else reads it: while there are any it is not taken away. */
  pins = 0;

  constructor(index: number) {
    super();
    this.index = index;
  }
}

/** Something that a snapshot can be kept for. */
interface SnapshotOwner {
  snapshot: unknown;
}

export class SnapshotPool<Owner extends SnapshotOwner> {
  readonly count: number;
  readonly #free: Snapshot<Owner>[];
  /** Without the pinned ones. */
  readonly #kept = new LruList<Snapshot<Owner>>();
  #pinned = 0;

  constructor(count: number) {
    this.count = count;
    this.#free = Array.from({ length: count }, (_, i) => new Snapshot(count - 1 - i));
  }

  /** Snapshots that hold a state. */
  get kept(): number {
    return this.#kept.size + this.#pinned;
  }

  /** A place to write to, if need be that of the snapshot used longest ago; null when all are being written. */
  reserve(): Snapshot<Owner> | null {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const oldest = this.#kept.oldest;
    if (oldest === null) return null;
    this.drop(oldest);
    return this.reserve();
  }

  /** Keeps what was written to a reserved place. */
  keep(snapshot: Snapshot<Owner>, owner: Owner): void {
    snapshot.owner = owner;
    owner.snapshot = snapshot;
    this.#kept.push(snapshot);
  }

  /** Marks a kept snapshot as used now. */
  use(snapshot: Snapshot<Owner>): void {
    if (snapshot.pins > 0) return;
    this.#kept.remove(snapshot);
    this.#kept.push(snapshot);
  }

  /** Keeps a kept snapshot from being taken away until it is unpinned as often. Its owner must stay as long. */
  pin(snapshot: Snapshot<Owner>): void {
    if (snapshot.pins++ > 0) return;
    this.#kept.remove(snapshot);
    this.#pinned++;
  }

  unpin(snapshot: Snapshot<Owner>): void {
    if (--snapshot.pins > 0) return;
    this.#kept.push(snapshot);
    this.#pinned--;
  }

  /** Frees a place, whether it is kept or reserved. */
  drop(snapshot: Snapshot<Owner>): void {
    if (snapshot.owner !== null) {
      snapshot.owner.snapshot = null;
      snapshot.owner = null;
      this.#kept.remove(snapshot);
    }
    this.#free.push(snapshot);
  }
}
