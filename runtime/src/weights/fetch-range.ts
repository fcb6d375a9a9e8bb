// Brings one range of a file to its place on disk, chunk by chunk as it arrives.

import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckpointSource, FileVersion } from './checkpoint-source.js';
import type { Attempt } from './inspect-checkpoint.js';
import type { ByteRange } from './byte-ranges.js';
import { openPlain } from './plain-file.js';

export interface FetchOptions {
  readonly source: CheckpointSource;
  /** Where the file is, with its full length. */
  readonly dir: string;
  readonly attempt: Attempt;
  readonly observer: { received(bytes: number): void };
  readonly signal: AbortSignal;
}

/** @throws what the source throws, and errors of writing */
export async function fetchRange(
  { source, dir, attempt, observer, signal }: FetchOptions,
  file: FileVersion,
  [begin, end]: ByteRange,
): Promise<void> {
  const handle = await openPlain(join(dir, file.name), constants.O_RDWR);
  try {
    await attempt(async () => {
      let at = begin;
      try {
        for await (const chunk of source.read(file, begin, end)) {
          signal.throwIfAborted();
          await writeAll(handle, chunk, at);
          at += chunk.byteLength;
          observer.received(chunk.byteLength);
        }
      } catch (error) {
        observer.received(begin - at);
        throw error;
      }
    });
  } finally {
    await handle.close();
  }
}

/** A disk that is nearly full takes a part without an error; the next write reports it. */
async function writeAll(handle: FileHandle, chunk: Uint8Array, at: number): Promise<void> {
  for (let written = 0; written < chunk.byteLength;) {
    const { bytesWritten } = await handle.write(chunk, written, chunk.byteLength - written, at + written);
    written += bytesWritten;
  }
}
