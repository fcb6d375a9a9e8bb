// Fetches the files of a checkpoint by parallel range reads straight to their place on disk.
// Memory is bounded by the chunks in flight; every finished range is journalled; every file is verified.

import { FailureError } from '@llmservice/crds';
import { mkdir, open, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit, { type LimitFunction } from 'p-limit';
import type { CheckpointSource, FileVersion } from './checkpoint-source.js';
import type { Attempt } from './inspect-checkpoint.js';
import { PullJournal } from './pull-journal.js';
import { missingRanges, type ByteRange } from './range-plan.js';
import { matchesDigest } from './verify-file.js';
import { requireFreeSpace, translateWriteError } from './weights-disk.js';

export interface PullFilesOptions {
  readonly source: CheckpointSource;
  readonly files: readonly FileVersion[];
  readonly dir: string;
  readonly parallelRanges: number;
  readonly rangeBytes: number;
  readonly attempt: Attempt;
  readonly observer: PullObserver;
  readonly signal: AbortSignal;
}

const filesAtOnce = 2;

export interface PullObserver {
  /** Once, before the first byte: what is already there and what there is in all. */
  begin(bytesDone: number, bytesTotal: number): void;
  /** Bytes that arrived; negative when a broken range is fetched again. */
  received(bytes: number): void;
  /** Work that moves no bytes, such as hashing. */
  alive(): void;
}

/**
 * @throws FailureError WeightsDiskFull, CheckpointCorrupt (digest differs after fetching it twice)
 * @throws SourceChangedError
 */
export async function pullFiles(options: PullFilesOptions): Promise<void> {
  const { dir, files, observer } = options;
  await mkdir(dir, { recursive: true });
  const journal = await PullJournal.open(dir);
  for (const file of files) await prepare(dir, file, journal);

  const total = sum(files.map((file) => file.bytes));
  const done = sum(files.map((file) => journal.doneBytes(file)));
  await requireFreeSpace(dir, total - done);
  observer.begin(done, total);

  // While one file is compared with its digest, the ranges of the next already arrive.
  const ranges = pLimit(options.parallelRanges);
  await allOrFirstFailure(files, pLimit(filesAtOnce), (file) => pullFile(options, journal, file, ranges));
}

/** Makes the file with its full length; what the journal says of a file that is not there is forgotten. */
async function prepare(dir: string, file: FileVersion, journal: PullJournal): Promise<void> {
  const path = join(dir, file.name);
  const present = await stat(path).then(
    (stats) => stats.size === file.bytes,
    () => false,
  );
  if (present && journal.doneBytes(file) > 0) return;
  await journal.forget(file);
  const handle = await open(path, 'w');
  await handle.truncate(file.bytes);
  await handle.close();
}

async function pullFile(
  options: PullFilesOptions,
  journal: PullJournal,
  file: FileVersion,
  ranges: LimitFunction,
): Promise<void> {
  if (journal.isVerified(file)) return;
  for (let attempts = 0; ; attempts += 1) {
    await fetchMissing(options, journal, file, ranges);
    if (await matchesDigest(join(options.dir, file.name), file, () => options.observer.alive())) break;
    if (attempts === 1) {
      throw new FailureError(
        'CheckpointCorrupt',
        `${file.name}: its content does not match the digest that S3 keeps for it`,
        { file: file.name },
      );
    }
    // A bad disk block or a bad proxy may have bitten once.
    await journal.forget(file);
    options.observer.received(-file.bytes);
  }
  await journal.setVerified(file);
}

async function fetchMissing(
  options: PullFilesOptions,
  journal: PullJournal,
  file: FileVersion,
  ranges: LimitFunction,
): Promise<void> {
  const missing = missingRanges(file.bytes, journal.done(file), options.rangeBytes);
  const handle = await open(join(options.dir, file.name), 'r+');
  try {
    await allOrFirstFailure(missing, ranges, async (range) => {
      await fetchRange(options, handle, file, range);
      await journal.addRange(file, range);
    });
  } finally {
    await handle.close();
  }
}

/** Runs all, starts no more after a failure, and throws the first one once none is under way. */
async function allOrFirstFailure<T>(
  items: readonly T[],
  limit: LimitFunction,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const tasks = items.map((item) =>
    limit(async () => {
      if (failures.length > 0) return;
      await run(item).catch((error: unknown) => {
        failures.push(error);
      });
    }),
  );
  await Promise.all(tasks);
  if (failures.length > 0) throw failures[0];
}

async function fetchRange(
  { source, dir, attempt, observer, signal }: PullFilesOptions,
  handle: FileHandle,
  file: FileVersion,
  [begin, end]: ByteRange,
): Promise<void> {
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

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
