// What of a checkpoint is long: it is parsed where that keeps nobody waiting, and by one reader at a time.

import type { CheckpointFiles } from './read-safetensors.js';

/** More than a MiB of it is to be parsed at once, which was not allowed. */
export class LongCheckpointError extends Error {
  override readonly name = 'LongCheckpointError';
}

/** The same files for one who may read nothing long: that throws LongCheckpointError. */
export function withoutLong(files: CheckpointFiles): CheckpointFiles {
  return {
    read: (...range) => files.read(...range),
    readOptional: (...range) => files.readOptional(...range),
    list: () => files.list(),
    beforeLong: () => {
      throw new LongCheckpointError();
    },
  };
}
