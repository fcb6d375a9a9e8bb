import type { Pod } from './types.js';

/** Its containers are over for good: it stays only to be read, and holds and serves nothing. */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
