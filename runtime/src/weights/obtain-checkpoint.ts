// From model.uri to a folder with a checkpoint that can be read, and then to one that is complete and verified: a local
// folder is inspected in place, S3 is inspected and pulled. Waits for a source that is out of reach.

import { join } from 'node:path';
import type { Arrivals } from './arrivals.js';
import { checkpointFolderName, parseCheckpointUri } from './checkpoint-uri.js';
import { FolderSource } from './folder-source.js';
import { inspectCheckpoint, type Attempt } from './inspect-checkpoint.js';
import { pullFiles, type PullObserver } from './pull-files.js';
import { retryWhileUnavailable, type AvailabilityObserver, type Sleep } from './retry.js';
import { makeS3Client, type S3Settings } from './s3-client.js';
import { S3Source } from './s3-source.js';

export interface ObtainOptions {
  readonly uri: string;
  /** Pulled checkpoints lie in folders of their own below it. */
  readonly weightsDir: string;
  readonly s3: S3Settings;
  readonly observer: PullObserver & AvailabilityObserver;
  readonly sleep: Sleep;
  /** Ends the pull between two chunks, or while it waits; what is on disk stays for the next. */
  readonly signal: AbortSignal;
}

/** 8 x 16 MiB in flight fill a 10 Gbit/s link at S3's usual 100 ms per request. */
const parallelRanges = 8;
const pieceBytes = 16 * 1024 * 1024;

/** A checkpoint whose small files and headers of weights are there. */
export interface ObtainedCheckpoint {
  /** Its folder, or its GGUF file. */
  readonly dir: string;
  /** What of the weights is there; null: all. To be closed. */
  readonly arrivals: Arrivals | null;
  /** Resolves once everything is there and verified. @throws as `obtainCheckpoint` */
  readonly verified: Promise<void>;
}

/**
 * @throws FailureError any terminal reason of a checkpoint, of S3 or of the disk
 * @throws SourceChangedError when files changed meanwhile: what was read of them is worthless, obtain it again
 */
export async function obtainCheckpoint(options: ObtainOptions): Promise<ObtainedCheckpoint> {
  const { observer, sleep, signal } = options;
  const uri = parseCheckpointUri(options.uri);
  const attempt: Attempt = (read) =>
    retryWhileUnavailable(() => unlessAborted(read, signal), observer, sleep);
  if (uri.kind === 'folder') {
    const { gguf } = await inspectCheckpoint(new FolderSource(uri.dir), uri.file, attempt);
    return {
      dir: gguf === null ? uri.dir : join(uri.dir, gguf),
      arrivals: null,
      verified: Promise.resolve(),
    };
  }
  const client = makeS3Client(options.s3);
  const close = (): void => client.destroy();
  // Ends reads that wait for a server that says nothing.
  signal.addEventListener('abort', close);
  const end = (): void => {
    signal.removeEventListener('abort', close);
    close();
  };
  try {
    const source = new S3Source(client, uri.bucket, uri.prefix);
    const dir = join(options.weightsDir, checkpointFolderName(options.uri));
    const checkpoint = await inspectCheckpoint(source, uri.file, attempt);
    const pull = { source, checkpoint, dir, parallelRanges, pieceBytes, attempt, observer, signal };
    const { arrivals, verified } = await pullFiles(pull);
    const { gguf } = checkpoint;
    return { dir: gguf === null ? dir : join(dir, gguf), arrivals, verified: verified.finally(end) };
  } catch (error) {
    end();
    throw error;
  }
}

/** What fails because of the abort fails as the abort. */
async function unlessAborted<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  try {
    return await read();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
