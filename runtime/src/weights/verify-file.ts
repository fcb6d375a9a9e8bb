// Compares a pulled file with what S3 told of it.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { FileVersion } from './checkpoint-source.js';

const chunkBytes = 1024 * 1024;

/** True when the file has the expected size and, where one is known, digest. `onChunk`: hashing is progress; it may throw. */
export async function matchesVersion(path: string, file: FileVersion, onChunk: () => void): Promise<boolean> {
  if ((await stat(path)).size !== file.bytes) return false;
  if (file.digest === null) return true;
  const hash = createHash(file.digest.algorithm);
  for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    onChunk();
  }
  return hash.digest('hex') === file.digest.hex;
}
