// The API keys of one key file. Which of them a text is takes the same time whether it is one or not, and whichever:
// hashes are compared, all of them, each in constant time.

import type { ConfiguredKey } from '../read-key-file.js';
import { createHash, timingSafeEqual } from 'node:crypto';

export class KeySet {
  readonly #entries: readonly { readonly hash: Buffer; readonly key: ConfiguredKey }[];

  constructor(readonly keys: readonly ConfiguredKey[]) {
    this.#entries = keys.flatMap((key) =>
      key.hashes.map((hash) => ({ hash: Buffer.from(hash, 'hex'), key })),
    );
  }

  /** The key that a client's text is; null: none. */
  find(presented: string): ConfiguredKey | null {
    const hash = createHash('sha256').update(presented).digest();
    let found: ConfiguredKey | null = null;
    for (const entry of this.#entries) if (timingSafeEqual(entry.hash, hash)) found = entry.key;
    return found;
  }

  /** Null: there is none of this id. */
  withId(id: string): ConfiguredKey | null {
    return this.keys.find((key) => key.id === id) ?? null;
  }
}
