// Short content hashes for names and annotations; equal values give equal hashes, whatever the order of their keys.

import { createHash } from 'node:crypto';
import stringify from 'safe-stable-stringify';

export function contentHash(value: unknown): string {
  return createHash('sha256')
    .update(stringify(value) ?? '')
    .digest('hex')
    .slice(0, 10);
}
