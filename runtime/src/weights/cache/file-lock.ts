// Advisory locks of files on the node, among processes of any pods that mount the folder. The kernel takes them back
// however their holder ends, so that a count of holders is never stale.

import { tryLock } from '@llmservice/native';
import { closeSync, openSync } from 'node:fs';

export type LockKind = 'shared' | 'exclusive';

export class FileLock {
  private constructor(private descriptor: number | null) {}

  /** Null: someone holds it in a way that excludes this. Makes the file where there is none. */
  static take(path: string, kind: LockKind): FileLock | null {
    // An exclusive lock over NFS needs a descriptor that may write.
    const descriptor = openSync(path, 'a+');
    let isTaken = false;
    try {
      isTaken = tryLock(descriptor, kind === 'exclusive');
    } finally {
      if (!isTaken) closeSync(descriptor);
    }
    return isTaken ? new FileLock(descriptor) : null;
  }

  /** Idempotent. */
  release(): void {
    if (this.descriptor !== null) closeSync(this.descriptor);
    this.descriptor = null;
  }
}
