// Compares a pulled file with what its store reported of it.

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
    const { algorithm, hex, around } = file.digest;
    const hash = createHash(algorithm);
    if (around !== undefined) hash.update(around.before);
    const stream = handle.createReadStream({ highWaterMark: chunkBytes, autoClose: false });
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      hash.update(chunk);
      onChunk();
    }
    if (around !== undefined) hash.update(around.after);
    return hash.digest('hex') === hex;
  } finally {
    await handle.close();
  }
}
