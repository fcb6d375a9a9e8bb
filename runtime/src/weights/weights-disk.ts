// The volume that weights are written to: enough room before the pull, and a typed failure when it fills up during it.

import { FailureError, formatGiB } from '@llmservice/crds';
import { shownPath } from '@llmservice/crds/held-folder';
import { statfs } from 'node:fs/promises';
import type { FileVersion } from './checkpoint-source.js';

/** Of a folder that files are pulled to. */
export interface Room {
  /**
   * Runs `prepare`, which makes the files and gives the bytes that they will still take of the disk, and sees to it that
   * there is room for these, and for as many bytes that come later.
   * @throws FailureError WeightsDiskFull
   */
  reserve(prepare: () => Promise<number>, laterBytes: number): Promise<void>;
  /** Puts a file into the folder that is complete and verified elsewhere; false where there is none. */
  adopt(file: FileVersion): Promise<boolean>;
}

/** Of a folder that nobody else pulls to. */
export function roomIn(dir: string): Room {
  return {
    reserve: async (prepare, laterBytes) => requireFreeSpace(dir, (await prepare()) + laterBytes),
    adopt: () => Promise.resolve(false),
  };
}

async function requireFreeSpace(dir: string, neededBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dir);
  const freeBytes = bavail * bsize;
  if (neededBytes > freeBytes) throw diskFull(dir, neededBytes, freeBytes);
}

/** Turns ENOSPC and EDQUOT of a write into WeightsDiskFull; gives other errors back as they are. */
export async function translateWriteError(
  error: unknown,
  dir: string,
  neededBytes: number,
): Promise<unknown> {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  const { bavail, bsize } = await statfs(dir);
  return diskFull(dir, neededBytes, bavail * bsize);
}

export function diskFull(dir: string, neededBytes: number, freeBytes: number): FailureError {
  return new FailureError(
    'WeightsDiskFull',
    `${shownPath(dir)} has ${formatGiB(freeBytes)} free, but the checkpoint still needs ${formatGiB(neededBytes)}`,
    { neededBytes, freeBytes },
  );
}
