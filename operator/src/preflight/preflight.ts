// The preflight of every service: what its checkpoint is, remembered between reconciles and looked at again from time
// to time. Failures are asked about again with back-off, since the cure (a Secret, an upload) is made outside.
// Checkpoints are read beside the reconciles, which wait for none: the end of a read is told.

import { FailureError, type Failure } from '@llmservice/crds';
import type { WantedService } from '../spec/parse-spec.js';
import { contentHash } from '../plan/identity/content-hash.js';
import { backoffMs } from '../watch/backoff.js';
import { judgeCheckpoint, LongCheckpointError, type CheckpointSource } from './judge-checkpoint.js';
import type { Checkpoint } from './read-checkpoint.js';
import { ReadPool } from './read-pool.js';

export type { CheckpointSource, OpenFolders } from './judge-checkpoint.js';
export type { Checkpoint } from './read-checkpoint.js';

export type PreflightResult =
  | { readonly state: 'resolved'; readonly checkpoint: Checkpoint }
  | { readonly state: 'failed'; readonly failure: Failure }
  /** Nothing can be said now; `known` is what was found before, if anything. */
  | { readonly state: 'unavailable'; readonly failure: Failure; readonly known: Checkpoint | null };

export interface PreflightAnswer {
  /** Null: the first read has just begun, and there is nothing to tell yet. */
  readonly result: PreflightResult | null;
  /** When to ask again, if by time alone. */
  readonly recheckMs: number | null;
}

export interface PreflightOptions {
  /** Called with the service's key when a read of its checkpoint ends. */
  readonly onRead?: (key: string) => void;
  /** A checkpoint is judged by some small reads: an endpoint that takes longer is as good as away. */
  readonly mostReadMs?: number;
  /** The same where it holds what is long, of which few are read at once. */
  readonly mostLongReadMs?: number;
  /** After this a first read is told of before it ends: nearly all end sooner, and their status says no more than needed. */
  readonly untoldMs?: number;
}

/** What a service wants read, and what came of it. */
interface Entry {
  readonly inputs: string;
  /** Ends what is read, once nobody wants it. */
  readonly unwanted: AbortController;
  result: PreflightResult | null;
  /** What came in place of a result: no failure of the service, so that it is thrown to who asks next. */
  error: Error | null;
  dueAt: number;
  failures: number;
  /** The checkpoint holds what is long. */
  long: boolean;
  /** The read that is under way or waits for its turn. */
  reading: { readonly since: number; readonly ended: Promise<void> } | null;
}

const resolvedRecheckMs = 10 * 60_000;
const failedBackoff = { firstMs: 10_000, mostMs: resolvedRecheckMs };
const unavailableBackoff = { firstMs: 3_000, mostMs: 60_000 };

export class Preflight {
  private readonly entries = new Map<string, Entry>();
  private readonly reads = new ReadPool({ total: 16, perNamespace: 4 });
  /** What is long (a GGUF header most of all) takes some hundred MiB while it is read and parsed. */
  private readonly longReads = new ReadPool({ total: 2, perNamespace: 1 });

  constructor(
    private readonly source: CheckpointSource,
    private readonly options: PreflightOptions = {},
  ) {}

  /** What is known now. Where it is time to read, a read begins, whose end is told. @throws what the source threw */
  look(key: string, service: WantedService): PreflightAnswer {
    const entry = this.entryOf(key, service);
    const { result, reading, dueAt } = entry;
    throwError(entry);
    const now = performance.now();
    if (result !== null) return { result, recheckMs: reading === null ? dueAt - now : null };
    const untoldMs = (reading?.since ?? now) + (this.options.untoldMs ?? 5_000) - now;
    return untoldMs > 0
      ? { result: null, recheckMs: untoldMs }
      : { result: stillReading(service), recheckMs: null };
  }

  /** As `look`, but waits for the end of the read. */
  async resolve(key: string, service: WantedService): Promise<{ readonly result: PreflightResult }> {
    const entry = this.entryOf(key, service);
    await entry.reading?.ended;
    throwError(entry);
    return { result: entry.result ?? stillReading(service) };
  }

  forget(key: string): void {
    this.entries.get(key)?.unwanted.abort();
    this.entries.delete(key);
  }

  /** Ends all reads. */
  stop(): void {
    for (const key of this.entries.keys()) this.forget(key);
  }

  private entryOf(key: string, service: WantedService): Entry {
    const inputs = inputsOf(service);
    let entry = this.entries.get(key);
    if (entry?.inputs !== inputs) {
      this.forget(key);
      entry = {
        ...{ inputs, unwanted: new AbortController(), result: null, error: null },
        ...{ dueAt: 0, failures: 0, long: false, reading: null },
      };
      this.entries.set(key, entry);
    }
    const now = performance.now();
    if (entry.reading === null && entry.error === null && entry.dueAt <= now) {
      entry.reading = { since: now, ended: this.read(key, service, entry) };
    }
    return entry;
  }

  /** Never throws. */
  private async read(key: string, service: WantedService, entry: Entry): Promise<void> {
    try {
      settle(entry, { state: 'resolved', checkpoint: await this.judge(service, entry) });
    } catch (error) {
      if (error instanceof FailureError) settle(entry, resultOf(error, entry.result));
      else entry.error = error as Error;
    }
    entry.reading = null;
    if (this.entries.get(key) === entry) this.options.onRead?.(key);
  }

  /** In its turn; what proves to be long is read again in a turn among the long. */
  private async judge(service: WantedService, entry: Entry): Promise<Checkpoint> {
    const { mostReadMs = 60_000, mostLongReadMs = 30_000 } = this.options;
    const { signal } = entry.unwanted;
    const reader = { namespace: service.namespace, doubtful: entry.result?.state === 'unavailable' };
    if (!entry.long) {
      const limits = { long: false, mostMs: mostReadMs, signal };
      try {
        return await this.reads.run(reader, signal, () => judgeCheckpoint(this.source, service, limits));
      } catch (error) {
        if (!(error instanceof LongCheckpointError)) throw error;
        entry.long = true;
      }
    }
    const limits = { long: true, mostMs: mostLongReadMs, signal };
    return this.longReads.run(reader, signal, () => judgeCheckpoint(this.source, service, limits));
  }
}

/** All that the judgement depends on. */
function inputsOf({ spec: { model, env, engine }, retry }: WantedService): string {
  const { runtime, dtype, quantization, speculative } = engine;
  return contentHash({ model, env, runtime, dtype, quantization, speculative, retry });
}

function throwError(entry: Entry): void {
  const { error } = entry;
  entry.error = null;
  if (error !== null) throw error;
}

function stillReading({ spec, generation }: WantedService): PreflightResult {
  const message = `${spec.model.uri} is still being read for generation ${generation}, or waits until others are`;
  return { state: 'unavailable', failure: { reason: 'S3Unavailable', message }, known: null };
}

function resultOf({ failure }: FailureError, before: PreflightResult | null): PreflightResult {
  return failure.reason === 'S3Unavailable'
    ? { state: 'unavailable', failure, known: knownBefore(before) }
    : { state: 'failed', failure };
}

function knownBefore(before: PreflightResult | null): Checkpoint | null {
  if (before?.state === 'resolved') return before.checkpoint;
  return before?.state === 'unavailable' ? before.known : null;
}

function settle(entry: Entry, result: PreflightResult): void {
  entry.failures = result.state === 'resolved' ? 0 : entry.failures + 1;
  entry.result = result;
  entry.dueAt = performance.now() + recheckAfter(result, entry.failures);
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
