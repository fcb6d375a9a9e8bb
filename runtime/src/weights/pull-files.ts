// Fetches the files of a checkpoint by parallel range reads straight to their place on disk: small files first, then
// weights in the order in which the engine reads them, which it may do meanwhile. Memory is bounded by the chunks in
// flight; every finished piece is journalled; every file is verified.

import { FailureError } from '@llmservice/crds';
import { constants } from 'node:fs';
import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { Arrivals } from './arrivals.js';
import { SourceChangedError, type FileVersion } from './checkpoint-source.js';
import { fetchRange, type FetchOptions } from './fetch-range.js';
import type { InspectedCheckpoint, WeightsHeader } from './inspect-checkpoint.js';
import { inReadOrder, isCovered, lanesOf, piecesOf, type Piece } from './pieces.js';
import { openPlain, removePlain } from './plain-file.js';
import { PullJournal } from './pull-journal.js';
import { FirstFailure } from './run-all.js';
import { syncFile } from './sync-file.js';
import { matchesVersion } from './verify-file.js';
import { translateWriteError, type Room } from './weights-disk.js';

export interface PullFilesOptions extends FetchOptions {
  readonly checkpoint: Pick<InspectedCheckpoint, 'files' | 'headers'>;
  readonly parallelRanges: number;
  readonly pieceBytes: number;
  readonly observer: PullObserver;
  readonly room: Room;
  /** Room on the disk that another pull will take after this one. */
  readonly reservedBytes: number;
}

export interface PullObserver {
  /** Once per pull, before its first byte: what is already there and what there is in all. */
  begin(bytesDone: number, bytesTotal: number): void;
  /** Bytes that arrived; negative when a broken range is fetched again. */
  received(bytes: number): void;
  /** Work that moves no bytes, such as hashing. */
  alive(): void;
  /** Another process of the node pulls the same files, and this one waits for it. */
  elsewhere(): void;
}

/** Files that can be read: the small ones and all headers are there, of the rest what `arrivals` reports. */
export interface ArrivingFiles {
  readonly arrivals: Arrivals;
  /**
   * Resolves once every file is complete and verified.
   * @throws FailureError WeightsDiskFull, CheckpointCorrupt (not the file after fetching it twice)
   * @throws SourceChangedError when what was read is worthless, and a pull should begin anew
   */
  readonly verified: Promise<void>;
}

const filesHashedAtOnce = 2;

/** @throws as `ArrivingFiles.verified` */
export async function pullFiles(options: PullFilesOptions): Promise<ArrivingFiles> {
  const { dir, checkpoint } = options;
  await mkdir(dir, { recursive: true });
  const journal = await PullJournal.open(dir);
  // Whatever is written, weights or journal: a full disk is reported as one.
  const typed = async (error: unknown): Promise<never> => {
    throw await translateWriteError(error, dir, stillMissing(checkpoint, journal));
  };
  const { arrivals, verified } = await begin(options, journal).catch(typed);
  return { arrivals, verified: verified.catch(typed) };
}

/** Bytes that a pull of the checkpoint into the folder would write. */
export async function missingBytes(dir: string, checkpoint: InspectedCheckpoint): Promise<number> {
  return stillMissing(checkpoint, await PullJournal.open(dir));
}

function stillMissing({ files }: Pick<InspectedCheckpoint, 'files'>, journal: PullJournal): number {
  return sum(files.map((file) => file.bytes - journal.doneBytes(file)));
}

async function begin(options: PullFilesOptions, journal: PullJournal): Promise<ArrivingFiles> {
  const { dir, observer, pieceBytes, checkpoint } = options;
  const { files, headers } = checkpoint;
  const total = sum(files.map((file) => file.bytes));
  const pieces = files.flatMap((file) => piecesOf(file, pieceBytes));
  const doneBytes = (): number => {
    const there = pieces.filter((piece) => isCovered(piece, journal.done(piece.file)));
    return sum(there.map(({ range: [begin, end] }) => end - begin));
  };
  await options.room.reserve(async () => {
    for (const file of files) await prepare(options, file, journal, headers.get(file.name));
    return total - doneBytes();
  }, options.reservedBytes);
  observer.begin(doneBytes(), total);

  const weights = files.filter((file) => headers.has(file.name));
  const arrivals = Arrivals.create(dir, weights, pieceBytes);
  try {
    const small = files.filter((file) => !headers.has(file.name));
    await complete(options, journal, small, arrivals);
    return { arrivals, verified: complete(options, journal, weights, arrivals) };
  } catch (error) {
    arrivals.close();
    throw error;
  }
}

/** Makes the file with its full length; what the journal says of a file that is not there is forgotten. */
async function prepare(
  { dir, room }: PullFilesOptions,
  file: FileVersion,
  journal: PullJournal,
  header: WeightsHeader | undefined,
): Promise<void> {
  const path = join(dir, file.name);
  const present = await lstat(path).then(
    (stats) => stats.isFile() && stats.size === file.bytes,
    () => false,
  );
  if (present && journal.isVerified(file)) return;
  const keep = present && journal.doneBytes(file) > 0;
  if (!keep) {
    // Removed, not written over: it may be read, or be another entry's of a cache too.
    await removePlain(path);
    if (await room.adopt(file)) return journal.setVerified(file);
    await journal.restart(file);
  }
  const { O_RDWR, O_CREAT, O_EXCL } = constants;
  const handle = await openPlain(path, keep ? O_RDWR : O_RDWR | O_CREAT | O_EXCL);
  try {
    await handle.truncate(file.bytes);
    // Was read to inspect it; the engine can then start before its piece arrives.
    if (header !== undefined) await handle.write(header.bytes, 0, header.bytes.byteLength, 0);
  } finally {
    await handle.close();
  }
}

/** Fetches what is missing of the files, and verifies each as soon as it is there. */
async function complete(
  options: PullFilesOptions,
  journal: PullJournal,
  files: readonly FileVersion[],
  arrivals: Arrivals,
): Promise<void> {
  const { pieceBytes, parallelRanges, checkpoint } = options;
  const tensors = new Map([...checkpoint.headers].map(([file, header]) => [file, header.tensors]));
  const pieces = files.flatMap((file) => piecesOf(file, pieceBytes));
  const isThere = (piece: Piece): boolean => isCovered(piece, journal.done(piece.file));
  for (const piece of pieces.filter(isThere)) arrivals.arrived(piece);
  const missing = pieces.filter((piece) => !isThere(piece));

  const failure = new FirstFailure();
  const ranges = pLimit(parallelRanges);
  const hashing = pLimit(filesHashedAtOnce);
  const fetched = new Map<FileVersion, Promise<void>[]>(files.map((file) => [file, []]));
  const fetch = (piece: Piece): Promise<void> =>
    failure.run(ranges, async () => {
      await fetchRange(options, piece.file, piece.range);
      arrivals.arrived(piece);
      await journal.addRange(piece.file, piece.range);
    });
  for (const lane of lanesOf(inReadOrder(missing, pieceBytes, tensors))) {
    let last = Promise.resolve();
    for (const piece of lane) {
      last = last.then(() => fetch(piece));
      fetched.get(piece.file)?.push(last);
    }
  }
  const verifying = files.map(async (file) => {
    await Promise.all(fetched.get(file) ?? []);
    await failure.run(hashing, () => verify(options, journal, file));
  });
  await Promise.all(verifying);
  failure.check();
}

async function verify(
  { dir, observer, signal }: PullFilesOptions,
  journal: PullJournal,
  file: FileVersion,
): Promise<void> {
  if (journal.isVerified(file)) return;
  const goOn = (): void => {
    signal.throwIfAborted();
    observer.alive();
  };
  if (await matchesVersion(join(dir, file.name), file, goOn)) {
    await syncFile(join(dir, file.name));
    await journal.setVerified(file);
    return;
  }
  const message = `${file.name}: its size or its content is not what its store reports of it`;
  // A bad disk block or a bad proxy may have bitten once.
  if ((await journal.mismatched(file)) === 1) throw new SourceChangedError(`${message}; it is fetched again`);
  throw new FailureError('CheckpointCorrupt', message, { file: file.name });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
