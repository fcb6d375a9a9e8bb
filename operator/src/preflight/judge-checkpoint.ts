// One look at the checkpoint of one service, within a time: its folders are opened, judged and closed again.

import { setTimeout as realSleep } from 'node:timers/promises';
import { checkpointPin, isOfFirstReleases, isOfFormerRelease, type ListedFile } from '@llmservice/checkpoint';
import { FailureError, stores } from '@llmservice/crds';
import { contentHash } from '../domain/content-hash.js';
import type { Checkpoint, Pins } from '../domain/checkpoint.js';
import type { CheckpointLocation, WantedService } from '../domain/wanted-service.js';
import { isImageVolume, placeOf, storeOf } from '../resource/store-access.js';
import { checkAdapters } from './check-adapters.js';
import { withoutLong } from './long-reads.js';
import { readCheckpoint } from './read-checkpoint.js';
import { readForeignCheckpoint } from './read-foreign-checkpoint.js';
import type { CheckpointFiles } from './read-safetensors.js';

/** Folders of checkpoints, open for one preflight. */
export interface OpenFolders {
  at(location: CheckpointLocation): CheckpointFiles;
  /** Of the artifact's manifest: sha256:HEX; null: it lies in no registry. Absent: so do none. */
  readonly imageDigest?: (location: CheckpointLocation) => Promise<string | null>;
  /** What is known of a checkpoint whose files pods alone can read; absent: they can be read here. */
  readonly onClaim?: Checkpoint;
  close(): void;
}

/** Where checkpoints are read from: their buckets, or, for the offline planner, a folder. */
export interface CheckpointSource {
  /** @throws FailureError where what the service gives for reaching its bucket is not there */
  open(service: WantedService): Promise<OpenFolders>;
}

export interface LookLimits {
  /** Whether what is longer than a MiB may be read. */
  readonly long: boolean;
  readonly maxMs: number;
  /** Ends the look. */
  readonly signal: AbortSignal;
  /** Another clock's, in tests. */
  readonly sleep?: Sleep;
}

export type Sleep = (
  ms: number,
  value: undefined,
  options: { readonly signal: AbortSignal; readonly ref: boolean },
) => Promise<void>;

/** @throws FailureError; LongCheckpointError; AbortError where the signal aborts */
export async function judgeCheckpoint(
  source: CheckpointSource,
  service: WantedService,
  { long, maxMs, signal, sleep = realSleep }: LookLimits,
): Promise<Checkpoint> {
  const ended = new AbortController();
  const anyEnd = AbortSignal.any([signal, ended.signal]);
  const late = sleep(maxMs, undefined, { signal: anyEnd, ref: false }).then(() => {
    const { uri } = service.spec.model;
    const store = storeOf(service.checkpoint);
    const message = `reading ${uri} took more than ${maxMs / 1000} s`;
    throw store === null ? new Error(message) : new FailureError(stores[store].unavailable, message);
  });
  const opened = source.open(service);
  try {
    return await Promise.race([opened.then((folders) => judge(service, folders, long)), late]);
  } finally {
    ended.abort();
    opened.then(
      (folders) => folders.close(),
      () => undefined,
    );
  }
}

async function judge(service: WantedService, folders: OpenFolders, long: boolean): Promise<Checkpoint> {
  if (folders.onClaim !== undefined) return folders.onClaim;
  const { accelerator, checkpoint, head, spec } = service;
  const open = (location: CheckpointLocation): CheckpointFiles =>
    long ? folders.at(location) : withoutLong(folders.at(location));
  const files = open(checkpoint);
  const source = head === null ? null : { uri: spec.engine.speculative.uri ?? '', files: open(head) };
  const read = await (spec.engine.runtime === 'vllm'
    ? readForeignCheckpoint(files, spec.engine)
    : readCheckpoint(files, checkpoint.file, { ...spec.engine, accelerator: accelerator.kind }, source));
  const refusedAdapters = read.model === null ? [] : await checkAdapters(service, open, read.model.shape);
  // A tag leads there now: by the digest, pods get what was judged.
  const imageDigest = isImageVolume(service) ? await folders.imageDigest?.(checkpoint) : null;
  const judged = { ...read, refusedAdapters, ...mounted(read, imageDigest ?? null) };
  return service.cache === null ? judged : pinned(judged, service, folders);
}

/** Registries remove a manifest without a tag: where the tag has another of the same files, pods are to name that. */
function mounted({ fingerprint }: Checkpoint, imageDigest: string | null): Partial<Checkpoint> {
  if (imageDigest === null) return {};
  return { imageDigest, fingerprint: contentHash([fingerprint, imageDigest]) };
}

/** What a cache has is named by all files that are pulled: a change of any is another checkpoint. */
async function pinned(
  checkpoint: Checkpoint,
  service: WantedService,
  folders: OpenFolders,
): Promise<Checkpoint> {
  const list = (location: CheckpointLocation) => folders.at(location).list();
  const [model, head] = [await list(service.checkpoint), service.head && (await list(service.head))];
  const pinsOf = (isRead: (name: string) => boolean): Pins => {
    const pinOf = (location: CheckpointLocation, files: readonly ListedFile[]): string =>
      checkpointPin(
        placeOf(service, location),
        files.filter(({ name }) => isRead(name)),
      );
    return {
      model: pinOf(service.checkpoint, model),
      head: service.head === null || head === null ? null : pinOf(service.head, head),
    };
  };
  const pins = pinsOf(() => true);
  const { fingerprint, firstFingerprint = fingerprint, formerFingerprint = fingerprint } = checkpoint;
  return {
    ...checkpoint,
    pins,
    fingerprint: contentHash([fingerprint, pins]),
    firstFingerprint: contentHash([firstFingerprint, pinsOf(isOfFirstReleases)]),
    formerFingerprint: contentHash([formerFingerprint, pinsOf(isOfFormerRelease)]),
  };
}
