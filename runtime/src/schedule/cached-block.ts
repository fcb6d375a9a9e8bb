// A KV block that other sequences may reuse.

import { LruEntry } from './lru-list.js';
import type { Snapshot } from './snapshot-pool.js';

/** A whole block of committed tokens. */
export class CachedBlock extends LruEntry {
  /** Sequences that have it in their table. */
  holders = 0;
  /** State after its last token. */
  snapshot: Snapshot<CachedBlock> | null = null;

  constructor(
    readonly id: number,
    readonly key: string,
    readonly block: number,
  ) {
    super();
  }
}
