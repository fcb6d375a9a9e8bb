// How many bytes of bodies the process may hold where nobody says. Each is at most five bytes of memory, while it is
// parsed; so a 32nd of the memory is a sixth of it at worst.

import { usableMemoryBytes, type ReadText } from './engine/memory-limit.js';

const mib = 2 ** 20;
const minBytes = 64 * mib;
const maxBytes = 512 * mib;

/** @param read what `usableMemoryBytes` reads; where that is nowhere written, there is the least room */
export function bodyRoom(read: ReadText): number {
  try {
    return Math.min(maxBytes, Math.max(minBytes, Math.floor(usableMemoryBytes(read) / 32)));
  } catch {
    return minBytes;
  }
}
