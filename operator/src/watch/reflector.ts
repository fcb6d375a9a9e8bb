// Keeps a copy of all objects of one resource, by list and watch. A watch ends for many reasons (410, closed or
// half-open socket, an API server that restarts or is overloaded): each leads back to watching from where it stood, or,
// where the server no longer knows that place, to a new list. Why ours: client-node's informer ends at every error but 410, and
// waits without end on a connection that is silent.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'winston';
import { ApiError, toApiError, type KubeClient } from '../kube/client.js';
import { linesOf } from '../kube/lines.js';
import { collectionPath, keyOf, type Resource } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { ObjectStore, type IndexKeys } from './object-store.js';
import { planWatchRetry, watchSeconds } from './watch-retry.js';

export interface ReflectorOptions {
  readonly client: KubeClient;
  readonly resource: Resource;
  /** Null: all namespaces. */
  readonly namespace: string | null;
  readonly labelSelector?: string;
  readonly logger: Logger;
  /**
   * Called with every object that appeared, changed or went (then in its last known form).
   * @param isKnown the watch reports only now what a write that was remembered has returned
   */
  readonly onChange: (object: KubeObject, isKnown: boolean) => void;
  /** Called with each object as the API server gave it, with its managed fields. */
  readonly onRead?: (object: KubeObject) => void;
  /** What is kept of an object; all of it but its managed fields by default. */
  readonly keep?: (object: KubeObject) => KubeObject;
  /** What objects are looked up by besides their names. */
  readonly index?: IndexKeys;
  /** How long a watch may be silent; the API server sends a bookmark about every minute. */
  readonly silenceMs?: number;
  /** Called when the cluster turns out to serve the resource, or not to (any more); without it, that is an error. */
  readonly onServed?: (served: Served) => void;
}

/** Whether the cluster has the resource, and lets the operator read it. */
export type Served = 'served' | 'absent' | 'forbidden';

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: KubeObject & { readonly code?: number };
}

/** One that ends sooner is no watch: to ask for it again at once would never end. */
const minWatchMs = 1_000;
/** One that lasted so long is no failure in a row with those before. */
const steadyWatchMs = 10_000;
/** How soon a resource is found that is installed, or a right that is given, later. */
const unservedRetryMs = 15_000;
/** An API server that starts may refuse what it will allow: what was served is not given up at the first word. */
const refusalsBelieved = 5;

export class Reflector {
  private readonly objects: ObjectStore;
  private resourceVersion: string | null = null;
  private failures = 0;
  private served: Served | null = null;
  /** When the watch ended, or the first began to be tried, by the monotonic clock; null: it is open. */
  private interruptedAt: number | null = performance.now();
  private synced: () => void = () => undefined;
  /** Settles when the first list is in, or the cluster does not have the resource. */
  readonly ready = new Promise<void>((resolve) => (this.synced = resolve));

  constructor(private readonly options: ReflectorOptions) {
    this.objects = new ObjectStore(options.index);
  }

  get(namespace: string, name: string): KubeObject | null {
    return this.objects.get(`${namespace}/${name}`);
  }

  /** All objects that have the label with this value. */
  labelled(label: string, value: string): KubeObject[] {
    return [...this.objects.values()].filter(({ metadata }) => metadata.labels?.[label] === value);
  }

  /** Those that have the key of the index. */
  indexed(indexKey: string): KubeObject[] {
    return this.objects.indexed(indexKey);
  }

  /** For how long there has been no watch; null: there is one, or nothing to be watched. */
  get interruptedMs(): number | null {
    const isUnserved = this.served !== null && this.served !== 'served';
    return isUnserved || this.interruptedAt === null ? null : performance.now() - this.interruptedAt;
  }

  values(): IterableIterator<KubeObject> {
    return this.objects.values();
  }

  /**
   * Puts in what a write returned, so that the next look sees it before the watch does. An answer may come later than
   * what the watch reports of changes after it: up to where the watch stands it has reported all, deletions too.
   */
  remember(object: KubeObject): void {
    const key = keyOf(object);
    const known = this.objects.get(key)?.metadata.resourceVersion ?? this.resourceVersion;
    if (!isNewer(object.metadata.resourceVersion, known)) return;
    this.objects.set(key, this.trim(object));
  }

  /** Runs until the signal aborts; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        signal.throwIfAborted();
        this.resourceVersion ??= await this.list(signal);
        await this.watch(this.resourceVersion, signal);
        this.failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        await this.recover(error, signal);
      }
    }
  }

  private async recover(error: unknown, signal: AbortSignal): Promise<void> {
    this.failures += 1;
    this.interruptedAt ??= performance.now();
    const unserved = this.unservedBy(error);
    if (unserved !== null) {
      this.resourceVersion = null;
      this.replace(new Map());
      this.announce(unserved);
      await pause(unservedRetryMs * (1 + Math.random() / 3), signal);
      return;
    }
    const { delayMs, relist } = planWatchRetry(error, this.failures, Math.random());
    if (relist) this.resourceVersion = null;
    this.options.logger.warn('watch interrupted', {
      resource: this.options.resource.plural,
      error: (error as Error).message,
      delayMs: Math.round(delayMs),
    });
    await pause(delayMs, signal);
  }

  /** Null: the error says nothing of the kind, or not often enough yet. */
  private unservedBy(error: unknown): Served | null {
    if (this.options.onServed === undefined || !(error instanceof ApiError)) return null;
    if (error.status === 404) return 'absent';
    if (error.status !== 403) return null;
    return this.served === 'served' && this.failures < refusalsBelieved ? null : 'forbidden';
  }

  private async list(signal: AbortSignal): Promise<string> {
    const found = new Map<string, KubeObject>();
    const { resource, namespace, labelSelector } = this.options;
    const path = collectionPath(resource, namespace);
    let version = '';
    for await (const page of this.options.client.pages({ path, query: { labelSelector }, signal })) {
      version = page.metadata.resourceVersion;
      for (const item of page.items) {
        // Items of a list carry no apiVersion and kind of their own.
        const object = this.trim({ ...item, apiVersion: resource.apiVersion, kind: resource.kind });
        found.set(keyOf(object), object);
      }
    }
    this.replace(found);
    // Who may list may be forbidden to watch: only an open watch takes that back.
    if (this.served !== 'forbidden') this.announce('served');
    return version;
  }

  private announce(served: Served): void {
    const changed = this.served !== served;
    this.served = served;
    if (changed) this.options.onServed?.(served);
    this.synced();
  }

  private opened(): void {
    this.interruptedAt = null;
    if (this.served === 'forbidden') this.announce('served');
  }

  private replace(found: Map<string, KubeObject>): void {
    const before = this.objects.replace(found);
    for (const [key, object] of found) {
      if (before.get(key)?.metadata.resourceVersion !== object.metadata.resourceVersion)
        this.options.onChange(object, false);
    }
    for (const [key, object] of before) if (!found.has(key)) this.options.onChange(object, false);
  }

  /** Returns when the server ends the watch in good order. */
  private async watch(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { client, resource, namespace, labelSelector, silenceMs = 120_000 } = this.options;
    const startedAt = performance.now();
    let openedAt = Infinity;
    const silent = new AbortController();
    // A half-open connection never ends by itself, nor does one that nobody answers: silence does end them.
    const alarm = setTimeout(() => silent.abort(new Error(`silent for ${silenceMs} ms`)), silenceMs);
    try {
      const stream = await client.open({
        method: 'GET',
        path: collectionPath(resource, namespace),
        query: {
          watch: true,
          allowWatchBookmarks: true,
          resourceVersion,
          labelSelector,
          timeoutSeconds: watchSeconds(Math.random()),
        },
        signal: AbortSignal.any([signal, silent.signal]),
      });
      alarm.refresh();
      openedAt = performance.now();
      this.opened();
      for await (const line of linesOf(stream)) {
        alarm.refresh();
        this.handle(JSON.parse(line) as WatchEvent);
        this.failures = 0;
      }
    } catch (error) {
      if (performance.now() - openedAt > steadyWatchMs) this.failures = 0;
      // What the connection says of its end is not why it was ended.
      silent.signal.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(alarm);
    }
    if (performance.now() - startedAt < minWatchMs) throw new Error('the watch ended as soon as it began');
  }

  private handle({ type, object }: WatchEvent): void {
    if (type === 'ERROR') throw toApiError(object.code ?? 500, JSON.stringify(object));
    this.resourceVersion = object.metadata.resourceVersion ?? this.resourceVersion;
    if (type === 'BOOKMARK') return;
    const key = keyOf(object);
    const known = this.objects.get(key)?.metadata.resourceVersion ?? null;
    // Of several writes of our own the last one stays, while the watch still reports those before it.
    const isKnown = type !== 'DELETED' && known !== null && !isNewer(object.metadata.resourceVersion, known);
    if (type === 'DELETED') this.objects.delete(key);
    else if (!isKnown) this.objects.set(key, this.trim(object));
    this.options.onChange(object, isKnown);
  }

  /** Managed fields are half of an object's size and never read. */
  private trim(object: KubeObject): KubeObject {
    const { keep = (kept: KubeObject) => kept, onRead } = this.options;
    onRead?.(object);
    return keep({
      ...object,
      metadata: { ...object.metadata, managedFields: undefined },
    });
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined);
}

/**
 * Versions of one resource are numbers that grow
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions), too large for a double. What is no
 * such number counts as newer.
 */
function isNewer(version: string | undefined, than: string | null): boolean {
  if (!isVersion(version) || !isVersion(than)) return true;
  return BigInt(version) > BigInt(than);
}

function isVersion(text: string | null | undefined): text is string {
  return /^\d+$/.test(text ?? '');
}
