// The preflight of every service: what its checkpoint is, remembered between reconciles and checked again from time
// to time. Failures are asked about again with back-off, since the cure (a Secret, an upload) is made outside.
// Checkpoints are read alongside the reconciles, which wait for none: the end of a read is notified.

import { backoffMs, FailureError, isStoreAway, stores, type Failure } from '@llmservice/crds';
import type { Checkpoint, PreflightResult, PreflightState, RefusedAdapter } from '../domain/checkpoint.js';
import type { WantedService } from '../domain/wanted-service.js';
import { secretUses } from '../resource/secret-uses.js';
import { storeOf } from '../resource/store-access.js';
import { contentHash } from '../domain/content-hash.js';
import { judgeCheckpoint, type CheckpointSource, type Sleep } from './judge-checkpoint.js';
import { LongCheckpointError } from './long-reads.js';
import type { LongReader } from './long-reader.js';
import { ReadPool } from './read-pool.js';
import { UnreadableContents } from './unreadable-contents.js';

export type { CheckpointSource, OpenFolders } from './judge-checkpoint.js';

export interface PreflightAnswer {
  /** Null: the first read has just begun, and there is nothing to report yet. */
  readonly result: PreflightState | null;
  /** When to ask again, if by time alone. */
  readonly recheckMs: number | null;
}

export interface PreflightOptions {
  /** Judges what is long where it can do no harm; in this process unless given. */
  readonly longReader?: Pick<LongReader, 'judge'>;
  /** Called with the service's key when a read of its checkpoint ends, or begins after it had to wait. */
  readonly onRead?: (key: string) => void;
  /** A checkpoint is judged by some small reads: an endpoint that takes longer is as good as away. */
  readonly maxReadMs?: number;
  /** The same where it holds what is long, of which few are read at once. */
  readonly maxLongReadMs?: number;
  /** After this a first read is reported before it ends or begins: nearly all end sooner, and need not be reported. */
  readonly quietMs?: number;
  /** Another clock's, in tests. */
  readonly sleep?: Sleep;
}

/** What a service wants read, and what came of it. */
interface Entry {
  readonly inputs: string;
  readonly retry: string;
  /** Ends what is read, once nobody wants it. */
  readonly unwanted: AbortController;
  result: PreflightResult | null;
  /** What the last read ended with in place of a result: no failure of the service, so that it is thrown once. */
  error: { readonly thrown: Error; reported: boolean } | null;
  dueAt: number;
  failures: number;
  /** The checkpoint holds what is long. */
  long: boolean;
  /** A person asked for it to be read again, whatever it was known to be. */
  again: boolean;
  /** The end of the read that is under way or waits for its turn. */
  reading: Promise<void> | null;
  /** When that read began to wait, or, once it has a place, when it got that. */
  since: number;
  hasPlace: boolean;
}

const resolvedRecheckMs = 10 * 60_000;
/** What ended a reader takes all its time and memory again, unless its content is known. */
const unreadableMs = resolvedRecheckMs;
const failedBackoff = { firstMs: 10_000, maxMs: resolvedRecheckMs };
const unavailableBackoff = { firstMs: 3_000, maxMs: 60_000 };

export class Preflight {
  private readonly entries = new Map<string, Entry>();
  private readonly reads = new ReadPool({ total: 16, perNamespace: 4 });
  /** What is long (a GGUF header most of all) takes some hundred MiB while it is read and parsed. */
  private readonly longReads = new ReadPool({ total: 2, perNamespace: 1 });
  private readonly unreadable: UnreadableContents;

  constructor(
    private readonly source: CheckpointSource,
    private readonly options: PreflightOptions = {},
  ) {
    this.unreadable = new UnreadableContents(source);
  }

  /**
   * What is known now. Where it is time, a read begins, whose end is notified.
   * @param known that the checkpoint ended its reader, as the status says: a new leader does not read it again at once
   * @throws once what the source threw
   */
  look(key: string, service: WantedService, known: Failure | null = null): PreflightAnswer {
    if (known !== null && !this.entries.has(key)) this.adopt(key, service, known);
    const entry = this.entryOf(key, service);
    const { result, error, reading, dueAt, since } = entry;
    if (error?.reported === false) {
      error.reported = true;
      throw error.thrown;
    }
    const now = performance.now();
    if (result !== null) return { result, recheckMs: reading === null ? dueAt - now : null };
    if (reading === null && error !== null) {
      return { result: unread(service, error.thrown), recheckMs: dueAt - now };
    }
    const quietMs = since + this.quietMs - now;
    return quietMs > 0
      ? { result: null, recheckMs: quietMs }
      : { result: stillReading(service, entry), recheckMs: null };
  }

  /** As `look`, but waits for the end of the read. */
  async resolve(key: string, service: WantedService): Promise<PreflightResult> {
    const entry = this.entryOf(key, service);
    await entry.reading;
    const { result, error } = entry;
    if (error !== null) throw error.thrown;
    if (result === null) throw new Error('a read ends with a result or an error');
    return result;
  }

  forget(key: string): void {
    this.entries.get(key)?.unwanted.abort();
    this.entries.delete(key);
  }

  /** Ends all reads. */
  stop(): void {
    for (const key of this.entries.keys()) this.forget(key);
  }

  private adopt(key: string, service: WantedService, failure: Failure): void {
    const dueAt = performance.now() + unreadableMs;
    const result = { state: 'failed', failure } as const;
    this.entries.set(key, { ...newEntry(service), result, dueAt, failures: 1, long: true });
  }

  private entryOf(key: string, service: WantedService): Entry {
    let entry = this.entries.get(key);
    if (entry?.inputs !== inputsOf(service)) {
      const again = entry !== undefined && entry.retry !== service.retry;
      this.forget(key);
      entry = { ...newEntry(service), again };
      this.entries.set(key, entry);
    }
    if (entry.reading === null && entry.dueAt <= performance.now()) {
      entry.reading = this.read(key, service, entry);
    }
    return entry;
  }

  /** Never throws. */
  private async read(key: string, service: WantedService, entry: Entry): Promise<void> {
    try {
      settle(entry, { state: 'resolved', checkpoint: await this.judge(key, service, entry) });
    } catch (error) {
      if (error instanceof FailureError) settle(entry, resultOf(error, entry.result));
      else settleError(entry, error as Error);
    }
    entry.reading = null;
    this.notify(key, entry);
  }

  /** What proves to be long is read again in a turn among the long. */
  private async judge(key: string, service: WantedService, entry: Entry): Promise<Checkpoint> {
    if (!entry.long) {
      try {
        return await this.inTurn(key, service, entry);
      } catch (error) {
        if (!(error instanceof LongCheckpointError)) throw error;
        entry.long = true;
      }
    }
    return this.inTurn(key, service, entry);
  }

  private inTurn(key: string, service: WantedService, entry: Entry): Promise<Checkpoint> {
    const { maxReadMs = 60_000, maxLongReadMs = 120_000, longReader, sleep } = this.options;
    const { long, result, unwanted } = entry;
    const { signal } = unwanted;
    const reader = { namespace: service.namespace, doubtful: result?.state === 'unavailable' };
    entry.hasPlace = false;
    entry.since = performance.now();
    return (long ? this.longReads : this.reads).run(reader, signal, () => {
      const waitedMs = performance.now() - entry.since;
      entry.hasPlace = true;
      entry.since = performance.now();
      if (waitedMs >= this.quietMs) this.notify(key, entry);
      const maxMs = long ? maxLongReadMs : maxReadMs;
      if (!long || longReader === undefined)
        return judgeCheckpoint(this.source, service, { long, maxMs, signal, ...(sleep && { sleep }) });
      const { again } = entry;
      entry.again = false;
      return this.unreadable.read(service, { again, signal }, () =>
        longReader.judge(service, { maxMs, signal }),
      );
    });
  }

  private get quietMs(): number {
    return this.options.quietMs ?? 5_000;
  }

  private notify(key: string, entry: Entry): void {
    if (this.entries.get(key) === entry) this.options.onRead?.(key);
  }
}

function newEntry(service: WantedService): Entry {
  return {
    inputs: inputsOf(service),
    retry: service.retry,
    unwanted: new AbortController(),
    result: null,
    error: null,
    dueAt: 0,
    failures: 0,
    long: false,
    again: false,
    reading: null,
    since: 0,
    hasPlace: false,
  };
}

/** All that the judgement depends on. */
function inputsOf({ accelerator, adapters, adapterRoom, spec, retry }: WantedService): string {
  const { model, env, engine } = spec;
  const { runtime, dtype, quantization, speculative } = engine;
  const secrets = secretUses(spec);
  const { kind } = accelerator;
  const read = { model, env, secrets, runtime, kind, dtype, quantization, speculative, retry };
  return contentHash({ ...read, adapters, maxRank: adapterRoom.maxRank });
}

function unread({ spec }: WantedService, { message }: Error): PreflightState {
  return { state: 'reading', message: `${spec.model.uri} could not be read and is tried again: ${message}` };
}

/** Only what has been read for long without a word from its endpoint is a matter of the endpoint. */
function stillReading(
  { spec, generation, checkpoint }: WantedService,
  { hasPlace, long }: Entry,
): PreflightState {
  const { uri } = spec.model;
  if (!hasPlace)
    return { state: 'reading', message: `${uri} is read once others are; nothing has to be done` };
  if (long)
    return { state: 'reading', message: `${uri} is read, which takes a while: its header or index is long` };
  const message = `${uri} is still being read for generation ${generation}`;
  const store = storeOf(checkpoint);
  if (store === null) return { state: 'reading', message: `the API server is asked about ${uri}` };
  const { unavailable: reason } = stores[store];
  return { state: 'unavailable', failure: { reason, message }, known: null };
}

function resultOf({ failure }: FailureError, before: PreflightResult | null): PreflightResult {
  return isStoreAway(failure.reason)
    ? { state: 'unavailable', failure, known: knownBefore(before) }
    : { state: 'failed', failure };
}

function knownBefore(before: PreflightResult | null): Checkpoint | null {
  if (before?.state === 'resolved') return before.checkpoint;
  return before?.state === 'unavailable' ? before.known : null;
}

const isAway = ({ failure }: RefusedAdapter): boolean => isStoreAway(failure.reason);

function settle(entry: Entry, result: PreflightResult): void {
  entry.failures = isWhole(result) ? 0 : entry.failures + 1;
  entry.result = result;
  entry.error = null;
  entry.dueAt = performance.now() + recheckAfter(result, entry.failures);
}

/** What was known before stays. */
function settleError(entry: Entry, thrown: Error): void {
  entry.failures += 1;
  entry.error = { thrown, reported: false };
  entry.dueAt = performance.now() + backoffMs(entry.failures, unavailableBackoff);
}

const refusedIn = (result: PreflightResult): readonly RefusedAdapter[] =>
  result.state === 'resolved' ? (result.checkpoint.refusedAdapters ?? []) : [];

/** Whether there is nothing that somebody may still mend. */
const isWhole = (result: PreflightResult): boolean =>
  result.state === 'resolved' && refusedIn(result).length === 0;

function recheckAfter(result: PreflightResult, failures: number): number {
  const refused = refusedIn(result);
  switch (result.state) {
    case 'resolved':
      if (refused.length === 0) return resolvedRecheckMs;
      return backoffMs(failures, refused.some(isAway) ? unavailableBackoff : failedBackoff);
    case 'failed':
      return result.failure.reason === 'CheckpointUnreadable'
        ? unreadableMs
        : backoffMs(failures, failedBackoff);
    case 'unavailable':
      return backoffMs(failures, unavailableBackoff);
  }
}
