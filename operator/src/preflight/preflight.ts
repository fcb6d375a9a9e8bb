// The preflight of every service: what its checkpoint is, remembered between reconciles and looked at again from time
// to time. Failures are asked about again with back-off, since the cure (a Secret, an upload) is made outside.

import { setTimeout as sleep } from 'node:timers/promises';
import { checkpointPin, FailureError, type Failure } from '@llmservice/crds';
import type { CheckpointLocation, WantedService } from '../spec/parse-spec.js';
import { s3Access } from '../spec/s3-access.js';
import { contentHash } from '../plan/identity/content-hash.js';
import { backoffMs } from '../watch/backoff.js';
import { readCheckpoint, type Checkpoint } from './read-checkpoint.js';
import type { CheckpointFiles } from './read-safetensors.js';
import { readForeignCheckpoint } from './read-foreign-checkpoint.js';

export type { Checkpoint } from './read-checkpoint.js';

export type PreflightResult =
  | { readonly state: 'resolved'; readonly checkpoint: Checkpoint }
  | { readonly state: 'failed'; readonly failure: Failure }
  /** Nothing can be said now; `known` is what was found before, if anything. */
  | { readonly state: 'unavailable'; readonly failure: Failure; readonly known: Checkpoint | null };

/** Folders of checkpoints, open for one preflight. */
export interface OpenFolders {
  at(location: CheckpointLocation): CheckpointFiles;
  close(): void;
}

/** Where checkpoints are read from: their buckets, or, for the offline planner, a folder. */
export interface CheckpointSource {
  /** @throws FailureError where what the service gives for reaching its bucket is not there */
  open(service: WantedService): Promise<OpenFolders>;
}

export interface PreflightAnswer {
  readonly result: PreflightResult;
  /** When to ask again. */
  readonly recheckMs: number;
}

interface Entry {
  readonly inputs: string;
  readonly result: PreflightResult;
  readonly dueAt: number;
  readonly failures: number;
}

const resolvedRecheckMs = 10 * 60_000;
const failedBackoff = { firstMs: 10_000, mostMs: resolvedRecheckMs };
const unavailableBackoff = { firstMs: 3_000, mostMs: 60_000 };

export class Preflight {
  private readonly entries = new Map<string, Entry>();

  /** @param mostReadMs a checkpoint is judged by some small reads: an endpoint that takes longer is as good as away */
  constructor(
    private readonly source: CheckpointSource,
    private readonly mostReadMs = 60_000,
  ) {}

  async resolve(key: string, service: WantedService): Promise<PreflightAnswer> {
    const { model, env, engine } = service.spec;
    const inputs = contentHash({
      model,
      env,
      runtime: engine.runtime,
      dtype: engine.dtype,
      quantization: engine.quantization,
      speculative: engine.speculative,
      retry: service.retry,
    });
    const before = this.entries.get(key);
    const same = before?.inputs === inputs ? before : undefined;
    const now = performance.now();
    if (same !== undefined && same.dueAt > now) return { result: same.result, recheckMs: same.dueAt - now };

    const result = await this.read(service, same?.result ?? null);
    const failures = result.state === 'resolved' ? 0 : (same?.failures ?? 0) + 1;
    const recheckMs = recheckAfter(result, failures);
    this.entries.set(key, { inputs, result, failures, dueAt: performance.now() + recheckMs });
    return { result, recheckMs };
  }

  forget(key: string): void {
    this.entries.delete(key);
  }

  private async judge(service: WantedService, folders: OpenFolders): Promise<Checkpoint> {
    const { checkpoint, head, spec } = service;
    const files = folders.at(checkpoint);
    const source = head === null ? null : { uri: spec.engine.speculative.uri ?? '', files: folders.at(head) };
    const judged = await (spec.engine.runtime === 'vllm'
      ? readForeignCheckpoint(files, spec.engine)
      : readCheckpoint(files, checkpoint.file, spec.engine, source));
    return service.cache === null ? judged : pinned(judged, service, folders);
  }

  private async read(service: WantedService, before: PreflightResult | null): Promise<PreflightResult> {
    let folders: OpenFolders | null = null;
    const deadline = new AbortController();
    try {
      folders = await this.source.open(service);
      const late = sleep(this.mostReadMs, undefined, { signal: deadline.signal, ref: false }).then(() => {
        const { uri } = service.spec.model;
        throw new FailureError('S3Unavailable', `reading ${uri} took more than ${this.mostReadMs / 1000} s`);
      });
      const checkpoint = await Promise.race([this.judge(service, folders), late]);
      return { state: 'resolved', checkpoint };
    } catch (error) {
      if (!(error instanceof FailureError)) throw error;
      const { failure } = error;
      if (failure.reason !== 'S3Unavailable') return { state: 'failed', failure };
      return { state: 'unavailable', failure, known: knownBefore(before) };
    } finally {
      deadline.abort();
      folders?.close();
    }
  }
}

/** What a cache has is named by all files that are pulled: a change of any is another checkpoint. */
async function pinned(
  checkpoint: Checkpoint,
  service: WantedService,
  folders: OpenFolders,
): Promise<Checkpoint> {
  const { endpoint } = s3Access(service);
  const pinOf = async (location: CheckpointLocation): Promise<string> =>
    checkpointPin({ endpoint, ...location }, await folders.at(location).list());
  const head = service.head === null ? null : await pinOf(service.head);
  const pins = { model: await pinOf(service.checkpoint), head };
  return { ...checkpoint, pins, fingerprint: contentHash([checkpoint.fingerprint, pins]) };
}

function knownBefore(before: PreflightResult | null): Checkpoint | null {
  if (before?.state === 'resolved') return before.checkpoint;
  return before?.state === 'unavailable' ? before.known : null;
}

function recheckAfter(result: PreflightResult, failures: number): number {
  switch (result.state) {
    case 'resolved':
      return resolvedRecheckMs;
    case 'failed':
      return backoffMs(failures, failedBackoff);
    case 'unavailable':
      return backoffMs(failures, unavailableBackoff);
  }
}
