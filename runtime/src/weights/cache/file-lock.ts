// Advisory locks of files on the node, among processes of any pods that mount the folder. The kernel takes them back
// however their holder ends, so that a count of holders is never stale.

import { tryLock } from '@llmservice/native';
import { closeSync, constants, futimesSync } from 'node:fs';
import { openPlainSync } from '../plain-file.js';

export type LockKind = 'shared' | 'exclusive';

export class FileLock {
  private constructor(private descriptor: number | null) {}

  /**
   * Null: someone holds it in a way that excludes this. Makes the file where there is none.
   * @throws FailureError WeightsCacheUnsafe where the path is a link's
   */
  static take(path: string, kind: LockKind): FileLock | null {
    // An exclusive lock over NFS needs a descriptor that may write.
    const descriptor = openPlainSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND);
    let isTaken = false;
    try {
      isTaken = tryLock(descriptor, kind === 'exclusive');
    } finally {
      if (!isTaken) closeSync(descriptor);
    }
    return isTaken ? new FileLock(descriptor) : null;
  }

  /** Gives the file this time. Not once it was released. */
  touch(at: Date): void {
    if (this.descriptor !== null) futimesSync(this.descriptor, at, at);
  }

  /** Idempotent. */
  release(): void {
    if (this.descriptor !== null) closeSync(this.descriptor);
    this.descriptor = null;
  }
}
