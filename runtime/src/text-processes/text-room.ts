// How much memory the work of one text process may take: all of them together a quarter of what the replica may use, so that
// a pod's limit, which would end all of it, is not met first.

import { workRoom } from '@llmservice/checkpoint';
import { usableMemoryBytes, type ReadText } from '../engine/memory-limit.js';

/** What one of them holds is a tokenizer, and what its text takes. */
export const maxProcesses = 3;
const share = 4;
/** The memory plan counts so much. */
const minMb = workRoom.textBytes / 2 ** 20;
const maxMb = 1024;

/** @param read what `usableMemoryBytes` reads; where that is nowhere written, there is the least room */
export function textRoomMb(read: ReadText): number {
  try {
    const mb = usableMemoryBytes(read) / 2 ** 20 / share / maxProcesses;
    return Math.round(Math.min(maxMb, Math.max(minMb, mb)));
  } catch {
    return minMb;
  }
}
