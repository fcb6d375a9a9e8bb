// From model.uri to a folder with a checkpoint that can be read, and then to one that is complete and verified: a local
// folder is inspected in place, S3 is inspected and pulled. Waits for a source that is out of reach.

import { hasMtp } from '@llmservice/checkpoint';
import { join } from 'node:path';
import type { Arrivals } from './arrivals.js';
import { viewOf } from './file-view.js';
import { inspectCheckpoint, type Attempt, type InspectedCheckpoint } from './inspect-checkpoint.js';
import type { HeadLocation } from './inspect-head.js';
import { obtainHead, type ObtainedHead } from './obtain-head.js';
import { openSource, type OpenSource, type SourceSettings } from './open-source.js';
import { missingBytes, pullFiles, type ArrivingFiles, type PullObserver } from './pull-files.js';
import { parallelRanges, pieceBytes } from './pull-sizes.js';
import { retryWhileUnavailable, type AvailabilityObserver } from './retry.js';

export interface ObtainOptions extends SourceSettings {
  readonly uri: string;
  /**
   * What drafts, by its method: another release of the model, to take the layer for multi-token prediction from if this one has
   * none, or a draft model; null: none.
   */
  readonly head: HeadLocation | null;
  /** What both were when they were planned; null: not known. */
  readonly pins: { readonly model: string | null; readonly head: string | null };
  readonly observer: PullObserver & AvailabilityObserver;
}

/** A checkpoint whose small files and headers of weights are there. */
export interface ObtainedCheckpoint {
  /** Its folder, or its GGUF file. */
  readonly dir: string;
  /** Folder of what drafts, complete; null: the model's own layer, or none. */
  readonly headDir: string | null;
  /** Open files that both lead to: who reads them in another process inherits these under their numbers. */
  readonly descriptors: readonly number[];
  /** What of the weights is there; null: all. To be closed. */
  readonly arrivals: Arrivals | null;
  /** Resolves once everything is there and verified. @throws as `obtainCheckpoint` */
  readonly verified: Promise<void>;
  /** Resolves later than `verified`, once a cache has it for other pods too. @throws errors of writing */
  readonly kept: Promise<void>;
  /** The files are not read any more. To be called once `kept` is settled. */
  readonly release: () => void;
}

/**
 * @throws FailureError any terminal reason of a checkpoint, of S3 or of the disk
 * @throws SourceChangedError when files changed meanwhile: what was read of them is worthless, obtain it again
 */
export async function obtainCheckpoint(options: ObtainOptions): Promise<ObtainedCheckpoint> {
  const { observer, sleep, signal, pins } = options;
  const attempt: Attempt = (read) =>
    retryWhileUnavailable(() => unlessAborted(read, signal), observer, sleep);
  const part = { pin: pins.model, suffix: '' } as const;
  const opened = await openSource('model.uri', options.uri, part, options, attempt);
  const held: (() => void)[] = [opened.release];
  const release = (): void => held.splice(0).forEach((each) => each());
  let pull: ArrivingFiles | null = null;
  try {
    const { source, dir: folder, room, isComplete, commit, disconnect } = opened;
    const checkpoint = await inspectCheckpoint(source, opened.file, attempt);
    const head = await headOf(options, opened, checkpoint, attempt);
    if (head !== null) held.unshift(head.release);
    const how = { parallelRanges, pieceBytes, attempt, observer, signal, room, reservedBytes: 0 };
    if (!isComplete) pull = await pullFiles({ source, checkpoint, dir: folder, ...how });
    const view = await viewOf(opened, checkpoint.files);
    if (view !== null) held.unshift(() => void view.close());
    const read = view?.dir ?? folder;
    const dir = checkpoint.gguf === null ? read : join(read, checkpoint.gguf);
    const descriptors = [...(view?.descriptors ?? []), ...(head?.descriptors ?? [])];
    const there = { dir, headDir: head?.dir ?? null, descriptors, release };
    if (pull === null)
      return { ...there, arrivals: null, verified: Promise.resolve(), kept: Promise.resolve() };
    const verified = pull.verified.then(() => view?.check()).finally(disconnect);
    const kept = verified.then(() => commit(checkpoint.files));
    // Who looks only at `verified` has seen why.
    kept.catch(() => undefined);
    return { ...there, arrivals: pull.arrivals, verified, kept };
  } catch (error) {
    endLater(pull, release);
    throw error;
  }
}

/** A pull that is under way still writes to what is held. */
function endLater(pull: ArrivingFiles | null, release: () => void): void {
  const end = (): void => {
    pull?.arrivals.close();
    release();
  };
  if (pull === null) end();
  else pull.verified.then(end, end);
}

/** The head comes first and whole, so that the engine can read it without waiting. Null where none is wanted or needed. */
async function headOf(
  options: ObtainOptions,
  { dir, isComplete }: OpenSource,
  checkpoint: InspectedCheckpoint,
  attempt: Attempt,
): Promise<ObtainedHead | null> {
  const tensors = [...checkpoint.headers.values()].flatMap((header) => header.tensors);
  const { head, pins } = options;
  if (head === null || (head.method === 'mtp' && hasMtp(tensors))) return null;
  const reservedBytes = isComplete ? 0 : await missingBytes(dir, checkpoint);
  return obtainHead({ ...options, ...head, pin: pins.head, trunk: checkpoint.shape, reservedBytes, attempt });
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
