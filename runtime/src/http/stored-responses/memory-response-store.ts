// Responses and conversations in the memory of this process, as JSON, within limits: store-ledger.ts says which are evicted.

import { largestBytes, StoreLedger, type LedgerEntry, type StoreLimits } from './store-ledger.js';
import { idOf, type Asker, type ResponseStore, type Stored } from './stored-response.js';

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

  async get({ owner, take }: Asker, id: string): Promise<Stored | null> {
    this.dropExpired();
    const entry = this.#held.find(owner, id);
    if (entry === null) return null;
    take(entry.json.length);
    return Promise.resolve(read(entry));
  }

  put(owner: string, stored: Stored): Promise<boolean> {
    this.dropExpired();
    this.#held.remove(owner, idOf(stored));
    return Promise.resolve(this.#put(owner, stored));
  }

  async change(
    { owner, take }: Asker,
    id: string,
    make: (before: Stored) => Stored,
  ): Promise<Stored | 'missing' | 'too large'> {
    this.dropExpired();
    const entry = this.#held.find(owner, id);
    if (entry === null) return 'missing';
    take(entry.json.length);
    const before = read(entry);
    const after = make(before);
    // Nothing waits in between: no other change comes first.
    return Promise.resolve(after === before || this.#put(owner, after) ? after : 'too large');
  }

  hasConditions(): Promise<boolean> {
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

  /** In place of what has its id. False: it is too large, and nothing changes. */
  #put(owner: string, stored: Stored): boolean {
    const id = idOf(stored);
    const json = Buffer.from(JSON.stringify(stored));
    const bytes = json.length + entryBytes;
    if (bytes > largestBytes(this.limits)) return false;
    this.#held.remove(owner, id);
    this.#held.makeRoom(1, bytes);
    this.#held.add({ owner, id, json, bytes, expiresAt: this.now() + this.limits.maxAgeMs });
    return true;
  }
}

/** `#put` alone writes entries. */
const read = ({ json }: Entry): Stored => JSON.parse(json.toString()) as Stored;
