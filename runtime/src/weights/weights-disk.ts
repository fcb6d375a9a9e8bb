// The volume that weights are written to: enough room before the pull, and a typed failure when it fills up during it.

import { FailureError, formatGiB } from '@llmservice/crds';
import { statfs } from 'node:fs/promises';

/** @throws FailureError WeightsDiskFull */
export async function requireFreeSpace(dir: string, neededBytes: number): Promise<void> {
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

function diskFull(dir: string, neededBytes: number, freeBytes: number): FailureError {
  return new FailureError(
    'WeightsDiskFull',
    `${dir} has ${formatGiB(freeBytes)} free, but the checkpoint still needs ${formatGiB(neededBytes)}`,
    { neededBytes, freeBytes },
  );
}
