// Ids of files and batches: a prefix, the time, and 80 random bits; so ids of one kind are in the order in which they were
// made. Pure but for the randomness.

import { createHash, randomBytes } from 'node:crypto';

export const filePrefix = 'file-';
export const batchPrefix = 'batch_';

export const timedId = (prefix: string, now: number): string =>
  prefix + now.toString(16).padStart(12, '0') + randomBytes(10).toString('hex');

/** What our ids are: no other is looked up, whatever a client sends. */
export const isId = (prefix: string, text: string): boolean =>
  text.startsWith(prefix) && /^[0-9a-f]{32}$/.test(text.slice(prefix.length));

/** Of the key of what an owner stores: ids of API keys may have any characters. */
export const folderOf = (owner: string): string =>
  createHash('sha256').update(owner).digest('hex').slice(0, 32);
