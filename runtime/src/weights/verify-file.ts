// Compares a pulled file with what S3 reported of it.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileVersion } from './checkpoint-source.js';
import { openPlain } from './plain-file.js';

const chunkBytes = 1024 * 1024;

/** True when the file has the expected size and, where one is known, digest. `onChunk`: hashing is progress; it may throw. */
export async function matchesVersion(path: string, file: FileVersion, onChunk: () => void): Promise<boolean> {
  const handle = await openPlain(path, constants.O_RDONLY);
  try {
    if ((await handle.stat()).size !== file.bytes) return false;
    if (file.digest === null) return true;
    const hash = createHash(file.digest.algorithm);
    const stream = handle.createReadStream({ highWaterMark: chunkBytes, autoClose: false });
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      hash.update(chunk);
      onChunk();
    }
    return hash.digest('hex') === file.digest.hex;
  } finally {
    await handle.close();
  }
}
