// Compares a pulled file with the digest that S3 told for it.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { FileVersion } from './checkpoint-source.js';

const chunkBytes = 1024 * 1024;

/** True when the file has the expected digest, or none is known. Calls `onChunk` as it goes: hashing is progress. */
export async function matchesDigest(path: string, file: FileVersion, onChunk: () => void): Promise<boolean> {
  if (file.digest === null) return true;
  const hash = createHash(file.digest.algorithm);
  for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    onChunk();
  }
  return hash.digest('hex') === file.digest.hex;
}
