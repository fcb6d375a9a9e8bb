// What a store holds, by owner: its bytes, its age, and what to evict. Invariants: entries of an owner are in the order in
// which they were stored. Room is made by evicting the oldest entry of the owner that holds the largest share, so that
// nobody can evict what others store by storing more. Pure.

export interface StoreLimits {
  readonly maxBytes: number;
  readonly maxCount: number;
  readonly maxAgeMs: number;
}

export interface LedgerEntry {
  readonly owner: string;
  readonly id: string;
  readonly bytes: number;
  readonly expiresAt: number;
}

/** Of the limit; a larger response is not stored, or it alone would evict most others. */
const largestPart = 1 / 8;
/** A conversation of a million tokens. What is stored is parsed at once, which holds up the event loop. */
const parsedAtOnce = 4 * 1024 * 1024;

export const largestBytes = ({ maxBytes }: StoreLimits): number =>
  Math.min(maxBytes * largestPart, parsedAtOnce);

interface Held<Entry> {
  /** The oldest first. */
  readonly entries: Map<string, Entry>;
  bytes: number;
}

export class StoreLedger<Entry extends LedgerEntry> {
  readonly #owners = new Map<string, Held<Entry>>();
  #bytes = 0;
  #count = 0;

  constructor(private readonly limits: StoreLimits) {}

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#count;
  }

  find(owner: string, id: string): Entry | null {
    return this.#owners.get(owner)?.entries.get(id) ?? null;
  }

  /** It is not there yet, and there is room. */
  add(entry: Entry): void {
    const { owner, id, bytes } = entry;
    const held = this.#owners.get(owner) ?? { entries: new Map<string, Entry>(), bytes: 0 };
    this.#owners.set(owner, held);
    held.entries.set(id, entry);
    held.bytes += bytes;
    this.#bytes += bytes;
    this.#count += 1;
  }

  /** False: it was not there. */
  remove(owner: string, id: string): boolean {
    const held = this.#owners.get(owner);
    const entry = held?.entries.get(id);
    if (held === undefined || entry === undefined) return false;
    held.entries.delete(id);
    held.bytes -= entry.bytes;
    this.#bytes -= entry.bytes;
    this.#count -= 1;
    if (held.entries.size === 0) this.#owners.delete(owner);
    return true;
  }

  /** Removes what has reached its age. */
  expire(now: number): Entry[] {
    const expired: Entry[] = [];
    for (const { entries } of this.#owners.values())
      for (const entry of entries.values()) {
        if (entry.expiresAt > now) break;
        expired.push(entry);
      }
    for (const { owner, id } of expired) this.remove(owner, id);
    return expired;
  }

  /** Removes as much as takes the room of so many more entries and bytes. */
  makeRoom(count: number, bytes: number): Entry[] {
    const { maxBytes, maxCount } = this.limits;
    const evicted: Entry[] = [];
    while (this.#bytes + bytes > maxBytes || this.#count + count > maxCount) {
      const oldest = this.#oldestOfLargest();
      if (oldest === undefined) break;
      evicted.push(oldest);
      this.remove(oldest.owner, oldest.id);
    }
    return evicted;
  }

  #oldestOfLargest(): Entry | undefined {
    const { maxBytes, maxCount } = this.limits;
    const shareOf = ({ bytes, entries }: Held<Entry>): number =>
      Math.max(bytes / maxBytes, entries.size / maxCount);
    let largest: Held<Entry> | undefined;
    for (const held of this.#owners.values())
      if (largest === undefined || shareOf(held) > shareOf(largest)) largest = held;
    return largest?.entries.values().next().value;
  }
}
