// Objects in the memory of this process: no other finds them, and they end with it.

import type { Before, ListedObject, ObjectHead, ObjectStore, StoredObject } from './object-store.js';

interface Entry extends StoredObject {
  readonly storedAtMs: number;
}

export class MemoryObjectStore implements ObjectStore {
  readonly isShared = false;
  readonly #entries = new Map<string, Entry>();
  #writes = 0;

  /** @param clock Unix time in milliseconds */
  constructor(private readonly clock: () => number = Date.now) {}

  head(key: string): Promise<ObjectHead | null> {
    const entry = this.#entries.get(key);
    return Promise.resolve(entry === undefined ? null : headOf(entry));
  }

  get(
    key: string,
    isWanted: (head: ObjectHead) => boolean = (): boolean => true,
  ): Promise<StoredObject | null> {
    const entry = this.#entries.get(key);
    return Promise.resolve(entry !== undefined && isWanted(headOf(entry)) ? entry : null);
  }

  put(key: string, body: Buffer, before: Before): Promise<string | null> {
    const held = this.#entries.get(key);
    if (before !== 'anything') {
      const expected = before === 'nothing' ? undefined : before.etag;
      if (held?.etag !== expected) return Promise.resolve(null);
    }
    this.#writes += 1;
    const etag = String(this.#writes);
    this.#entries.set(key, { body, etag, storedAtMs: this.clock() });
    return Promise.resolve(etag);
  }

  delete(key: string): Promise<void> {
    this.#entries.delete(key);
    return Promise.resolve();
  }

  hasConditions(): Promise<boolean> {
    return Promise.resolve(true);
  }

  list(prefix: string): Promise<readonly ListedObject[]> {
    const listed = [...this.#entries]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, entry]) => ({ key, ...headOf(entry) }));
    return Promise.resolve(listed.sort((a, b) => (a.key < b.key ? -1 : 1)));
  }
}

const headOf = ({ body, storedAtMs }: Entry): ObjectHead => ({ bytes: body.length, storedAtMs });
