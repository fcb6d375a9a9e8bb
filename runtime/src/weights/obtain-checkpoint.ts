// From model.uri to a folder with a complete, verified checkpoint: a local folder is inspected in place,
// S3 is inspected and pulled. Waits for a source that is out of reach; starts over when files change meanwhile.

import { join } from 'node:path';
import { SourceChangedError, type CheckpointSource } from './checkpoint-source.js';
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
const rangeBytes = 16 * 1024 * 1024;

/**
 * The folder that holds the checkpoint.
 * @throws FailureError any terminal reason of a checkpoint, of S3 or of the disk
 */
export async function obtainCheckpoint(options: ObtainOptions): Promise<string> {
  const uri = parseCheckpointUri(options.uri);
  const attempt: Attempt = (read) =>
    retryWhileUnavailable(
      () => {
        options.signal.throwIfAborted();
        return read();
      },
      options.observer,
      options.sleep,
    );
  if (uri.kind === 'folder') {
    await inspectCheckpoint(new FolderSource(uri.dir), attempt);
    return uri.dir;
  }
  const client = makeS3Client(options.s3);
  try {
    const dir = join(options.weightsDir, checkpointFolderName(options.uri));
    await pullUntilUnchanged(new S3Source(client, uri.bucket, uri.prefix), dir, attempt, options);
    return dir;
  } finally {
    client.destroy();
  }
}

async function pullUntilUnchanged(
  source: CheckpointSource,
  dir: string,
  attempt: Attempt,
  { observer, sleep, signal }: ObtainOptions,
): Promise<void> {
  for (;;) {
    try {
      const files = await inspectCheckpoint(source, attempt);
      await pullFiles({ source, files, dir, parallelRanges, rangeBytes, attempt, observer, signal });
      return;
    } catch (error) {
      // Someone is uploading: what is complete stays, the next look decides about the rest.
      if (!(error instanceof SourceChangedError)) throw error;
      await sleep(1_000);
    }
  }
}
