// From model.uri to a folder with a checkpoint that can be read, and then to one that is complete and verified: a local
// folder is inspected in place, S3 is inspected and pulled. Waits for a source that is out of reach.

import { hasMtp } from '@llmservice/crds';
import { join } from 'node:path';
import type { Arrivals } from './arrivals.js';
import { inspectCheckpoint, type Attempt, type InspectedCheckpoint } from './inspect-checkpoint.js';
import { obtainMtpHead } from './obtain-mtp-head.js';
import { openSource, type OpenSource } from './open-source.js';
import { missingBytes, pullFiles, type PullObserver } from './pull-files.js';
import { parallelRanges, pieceBytes } from './pull-sizes.js';
import { retryWhileUnavailable, type AvailabilityObserver, type Sleep } from './retry.js';
import type { S3Settings } from './s3-client.js';

export interface ObtainOptions {
  readonly uri: string;
  /** Another release of the model, to take the layer for multi-token prediction from if this one has none; null: none. */
  readonly headUri: string | null;
  /** Pulled checkpoints lie in folders of their own below it. */
  readonly weightsDir: string;
  readonly s3: S3Settings;
  readonly observer: PullObserver & AvailabilityObserver;
  readonly sleep: Sleep;
  /** Ends the pull between two chunks, or while it waits; what is on disk stays for the next. */
  readonly signal: AbortSignal;
}

/** A checkpoint whose small files and headers of weights are there. */
export interface ObtainedCheckpoint {
  /** Its folder, or its GGUF file. */
  readonly dir: string;
  /** Folder of the checkpoint that the layer for multi-token prediction comes from, complete; null: the model's own. */
  readonly headDir: string | null;
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
  const attempt: Attempt = (read) =>
    retryWhileUnavailable(() => unlessAborted(read, signal), observer, sleep);
  const opened = openSource('model.uri', options.uri, options);
  try {
    const { source, dir: folder, close } = opened;
    const checkpoint = await inspectCheckpoint(source, opened.file, attempt);
    const headDir = await obtainHead(options, opened, checkpoint, attempt);
    const dir = checkpoint.gguf === null ? folder : join(folder, checkpoint.gguf);
    if (opened.isLocal) return { dir, headDir, arrivals: null, verified: Promise.resolve() };
    const how = { parallelRanges, pieceBytes, attempt, observer, signal, reservedBytes: 0 };
    const { arrivals, verified } = await pullFiles({ source, checkpoint, dir: folder, ...how });
    return { dir, headDir, arrivals, verified: verified.finally(close) };
  } catch (error) {
    opened.close();
    throw error;
  }
}

/** The head comes first and whole, so that the engine can read it without waiting. Null where none is wanted or needed. */
async function obtainHead(
  options: ObtainOptions,
  { dir, isLocal }: OpenSource,
  checkpoint: InspectedCheckpoint,
  attempt: Attempt,
): Promise<string | null> {
  const tensors = [...checkpoint.headers.values()].flatMap((header) => header.tensors);
  if (options.headUri === null || hasMtp(tensors)) return null;
  const reservedBytes = isLocal ? 0 : await missingBytes(dir, checkpoint);
  const { headUri: uri, weightsDir, s3, observer, signal } = options;
  const trunk = checkpoint.shape;
  return obtainMtpHead({ uri, trunk, reservedBytes, weightsDir, s3, observer, signal, attempt });
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
