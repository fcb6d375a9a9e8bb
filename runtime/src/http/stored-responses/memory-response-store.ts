// Responses in the memory of this process, as JSON, within limits: store-ledger.ts says which are evicted.

import { largestBytes, StoreLedger, type LedgerEntry, type StoreLimits } from './store-ledger.js';
import type { Asker, ResponseStore, StoredResponse } from './stored-response.js';

/** Of maps and buffers, for each response. */
const entryBytes = 512;

interface Entry extends LedgerEntry {
  readonly json: Buffer;
}

export class MemoryResponseStore implements ResponseStore {
  readonly isShared = false;
  readonly #held: StoreLedger<Entry>;

  /** @param now monotonic, in milliseconds */
  constructor(
    private readonly limits: StoreLimits,
    private readonly now: () => number,
  ) {
    this.#held = new StoreLedger(limits);
  }

  get bytes(): number {
    return this.#held.bytes;
  }

  get count(): number {
    return this.#held.count;
  }

  async get({ owner, take }: Asker, id: string): Promise<StoredResponse | null> {
    this.dropExpired();
    const entry = this.#held.find(owner, id);
    if (entry === null) return null;
    take(entry.json.length);
    // `put` alone writes entries.
    return Promise.resolve(JSON.parse(entry.json.toString()) as StoredResponse);
  }

  put(owner: string, stored: StoredResponse): Promise<boolean> {
    this.dropExpired();
    const { id } = stored.response;
    this.#held.remove(owner, id);
    const json = Buffer.from(JSON.stringify(stored));
    const bytes = json.length + entryBytes;
    if (bytes > largestBytes(this.limits)) return Promise.resolve(false);
    this.#held.makeRoom(1, bytes);
    this.#held.add({ owner, id, json, bytes, expiresAt: this.now() + this.limits.maxAgeMs });
    return Promise.resolve(true);
  }

  delete(owner: string, id: string): Promise<boolean> {
    this.dropExpired();
    return Promise.resolve(this.#held.remove(owner, id));
  }

  /** What is beyond its age takes memory until this is called, as each access does. */
  dropExpired(): void {
    this.#held.expire(this.now());
  }
}
