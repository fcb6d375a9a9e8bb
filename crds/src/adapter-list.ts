// The list of LoRA adapters that the operator writes and running replicas read.

import { createHash } from 'node:crypto';

/** In the folder `paths.adapters`. */
export const adapterListFile = 'adapters.json';

export interface ListedAdapter {
  readonly name: string;
  readonly uri: string;
}

export function adapterListText(adapters: readonly ListedAdapter[]): string {
  return `${JSON.stringify(
    adapters.map(({ name, uri }) => ({ name, uri })),
    null,
    2,
  )}\n`;
}

/** By which a replica says which list it has. */
export function adapterListDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** How far a replica is with its list, by places in it. */
export interface AdapterReport {
  readonly list: string;
  readonly loaded: readonly number[];
  /** Tried, and tried again later. */
  readonly failed: readonly number[];
}
