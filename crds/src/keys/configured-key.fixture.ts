// API keys for tests: of the text `secret-ID` unless said otherwise.

import type { ConfiguredKey } from '../read-key-file.js';
import { createHash } from 'node:crypto';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export function configuredKey(id: string, changes: Partial<ConfiguredKey> = {}): ConfiguredKey {
  return {
    id,
    hashes: [sha256(`secret-${id}`)],
    cacheGroup: null,
    priority: 0,
    weight: 1,
    tokensPerMinute: null,
    tokensPerDay: null,
    concurrency: null,
    ...changes,
  };
}
