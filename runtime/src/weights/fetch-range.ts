// Brings one range of a file to its place on disk, chunk by chunk as it arrives.

import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckpointSource, FileVersion } from './checkpoint-source.js';
import type { Attempt } from './inspect-checkpoint.js';
import type { ByteRange } from './byte-ranges.js';
import { translateWriteError } from './weights-disk.js';

export interface FetchOptions {
  readonly source: CheckpointSource;
  /** Where the file is, with its full length. */
  readonly dir: string;
  readonly attempt: Attempt;
  readonly observer: { received(bytes: number): void };
  readonly signal: AbortSignal;
}

/** @throws FailureError WeightsDiskFull, and what the source throws */
export async function fetchRange(
  { source, dir, attempt, observer, signal }: FetchOptions,
  file: FileVersion,
  [begin, end]: ByteRange,
): Promise<void> {
  const handle = await open(join(dir, file.name), 'r+');
  try {
    await attempt(async () => {
      let at = begin;
      try {
        for await (const chunk of source.read(file, begin, end)) {
          signal.throwIfAborted();
          await write(handle, chunk, at, dir, end - at);
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

async function write(
  handle: FileHandle,
  chunk: Uint8Array,
  at: number,
  dir: string,
  needed: number,
): Promise<void> {
  try {
    await handle.write(chunk, 0, chunk.byteLength, at);
  } catch (error) {
    throw await translateWriteError(error, dir, needed);
  }
}
