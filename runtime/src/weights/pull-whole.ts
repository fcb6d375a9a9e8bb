// Pulls a checkpoint whole for another engine: configuration, weights in safetensors and whatever else lies beside them,
// verified. Neither its architecture nor its tokenizer is judged here.

import { setTimeout as sleepFor } from 'node:timers/promises';
import { SourceChangedError, type CheckpointSource, type FileVersion } from './checkpoint-source.js';
import { parseCheckpointUri } from './checkpoint-uri.js';
import { chooseAllFiles, requireConfig } from './choose-files.js';
import { readIndex, type Attempt } from './inspect-checkpoint.js';
import { pullFiles, type PullObserver } from './pull-files.js';
import { parallelRanges, pieceBytes } from './pull-sizes.js';
import { retryWhileUnavailable, type AvailabilityObserver, type Sleep } from './retry.js';
import { openStore, type StoreSettings } from './open-store.js';
import { RemoteSource } from './remote-source.js';
import { roomIn } from './weights-disk.js';
import { FailureError } from '@llmservice/crds';

export interface PullWholeOptions {
  /** s3://bucket/prefix/, hf://owner/name, oci://registry/repository:tag or https://host/list.json */
  readonly uri: string;
  /** Folder that the files are put in. */
  readonly dir: string;
  readonly stores: StoreSettings;
  readonly observer: PullObserver & AvailabilityObserver;
  readonly sleep: Sleep;
  readonly signal: AbortSignal;
}

const lookAgainMs = 1_000;

/**
 * Resolves once every file is there and verified.
 * @throws FailureError InvalidEngineConfig, ModelNotFound, CheckpointIncomplete, CheckpointCorrupt, WeightsDiskFull,
 *   and of S3
 */
export async function pullWhole(options: PullWholeOptions): Promise<void> {
  const { uri, stores, signal, observer } = options;
  const location = parseCheckpointUri('model.uri', uri);
  if (location.kind === 'folder' || location.file !== null) {
    throw new FailureError(
      'InvalidEngineConfig',
      `model.uri ${uri}: expected s3://bucket/prefix/, hf://owner/name, oci://registry/repository:tag or https://host/list.json`,
    );
  }
  const { bytes, disconnect } = openStore(location, stores, signal, () => observer.alive());
  try {
    await untilUnchanged(new RemoteSource(bytes), options);
  } finally {
    disconnect();
  }
}

/** Someone is uploading, or a file arrived broken: look at the folder again. */
async function untilUnchanged(source: CheckpointSource, options: PullWholeOptions): Promise<void> {
  for (;;) {
    try {
      await pullOnce(source, options);
      return;
    } catch (error) {
      if (!(error instanceof SourceChangedError)) throw error;
      await sleepFor(lookAgainMs, undefined, { signal: options.signal });
    }
  }
}

async function pullOnce(source: CheckpointSource, options: PullWholeOptions): Promise<void> {
  const { dir, observer, sleep, signal } = options;
  const attempt: Attempt = (read) => retryWhileUnavailable(read, observer, sleep);
  const listing = await attempt(() => source.list());
  requireConfig(source.uri, listing);
  const index = await readIndex(source, listing, attempt);
  const files: FileVersion[] = [];
  for (const name of chooseAllFiles(source.uri, listing, index)) {
    files.push(await attempt(() => source.version(name)));
  }
  // Nobody reads a tensor before all is there: no file needs its header first.
  const checkpoint = { files, headers: new Map() };
  const how = { parallelRanges, pieceBytes, attempt, observer, signal, room: roomIn(dir), reservedBytes: 0 };
  const { arrivals, verified } = await pullFiles({ source, checkpoint, dir, ...how });
  await verified.finally(() => arrivals.close());
}
