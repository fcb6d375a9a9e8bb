// The folder that the list of adapters is mounted in, which may change at any time, and the adapters of this replica, which
// follow it: those that are new are loaded, those that went are unloaded, and of another URI replaced. It is read again and again instead of watched, as
// the keys are. One adapter that cannot be loaded keeps no other from being served; it is tried again.

import { adapterListDigest, adapterListFile, backoffMs, type AdapterReport } from '@llmservice/crds';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAdapterList } from '../config/adapter-list.js';
import type { NamedAdapter } from '../config/adapter-settings.js';
import type { Logger } from '../log/logger.js';
import type { AdapterService, Obtain } from './adapter-service.js';

const pollMs = 1_000;
const backoff = { firstMs: 1_000, maxMs: 60_000 };
/** Pulls of more at once gain nothing. */
const maxLoading = 4;
/** What waits longer for its bucket leaves its place to others, and is tried again. */
const maxLoadMs = 600_000;

export interface AdapterFolderParts {
  readonly dir: string;
  readonly service: Pick<AdapterService, 'isServing' | 'uriOf' | 'load' | 'replace' | 'unload'>;
  readonly obtain: Obtain;
  readonly logger: Logger;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
}

interface Loading {
  readonly adapter: NamedAdapter;
  readonly stopping: AbortController;
  readonly done: Promise<void>;
}

interface Failed {
  readonly times: number;
  readonly message: string;
  dueAt: number;
}

export class AdapterFolder {
  readonly #parts: AdapterFolderParts;
  /** As last read, right or wrong; so that the same mistake is logged once. */
  #last: string | null = null;
  #digest = '';
  #wanted: readonly NamedAdapter[] = [];
  /** Names of those that are there because the list has or had them. */
  readonly #own = new Set<string>();
  readonly #failed = new Map<string, Failed>();
  readonly #loading = new Map<string, Loading>();
  #timer: NodeJS.Timeout | null = null;
  #reading: Promise<void> | null = null;

  constructor(parts: AdapterFolderParts) {
    this.#parts = parts;
  }

  /** Reads the list and keeps looking. */
  async open(): Promise<void> {
    await this.#look();
    this.#timer = setInterval(() => {
      if (this.#reading === null) this.#reading = this.#look().finally(() => (this.#reading = null));
    }, pollMs);
    this.#timer.unref();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Resolves once each adapter of the list was tried, or after that time. To be called when an engine is ready. */
  async settle(maxMs: number): Promise<void> {
    const late = sleep(maxMs, 'late', { ref: false });
    this.#follow();
    while (this.#loading.size > 0) {
      const done = [...this.#loading.values()].map((each) => each.done);
      if ((await Promise.race([late, ...done])) === 'late') return;
      this.#follow();
    }
  }

  get report(): AdapterReport {
    const places = (meets: (adapter: NamedAdapter) => boolean): number[] =>
      this.#wanted.flatMap((adapter, at) => (meets(adapter) ? [at] : []));
    return {
      list: this.#digest,
      loaded: places((adapter) => this.#isLoaded(adapter)),
      failed: places((adapter) => !this.#isLoaded(adapter) && this.#failed.has(adapter.name)),
    };
  }

  async #look(): Promise<void> {
    // A list that is missing changes nothing, as one that is broken.
    const text = await readFile(join(this.#parts.dir, adapterListFile), 'utf8').catch(() => null);
    if (text !== null && text !== this.#last) this.#take(text);
    this.#follow();
  }

  #take(text: string): void {
    const { dir, logger } = this.#parts;
    this.#last = text;
    try {
      this.#wanted = parseAdapterList(text);
      this.#digest = adapterListDigest(text);
      this.#failed.clear();
      for (const { adapter, stopping } of this.#loading.values()) {
        if (!this.#isWanted(adapter)) stopping.abort();
      }
      logger.info('list of adapters read', { dir, adapters: this.#wanted.map(({ name }) => name) });
    } catch (error) {
      const problem = (error as Error).message;
      logger.error('the list of adapters is broken, the one before it stays', { dir, problem });
    }
  }

  #follow(): void {
    const { service, now } = this.#parts;
    if (!service.isServing) return;
    const wanted = new Set(this.#wanted.map(({ name }) => name));
    for (const name of this.#own) {
      const uri = service.uriOf(name);
      // An administrator, or a load of another model, may have taken it away.
      if (uri === null) this.#own.delete(name);
      else if (!wanted.has(name)) this.#unload(name);
    }
    for (const adapter of this.#wanted) {
      const { name } = adapter;
      if (this.#isLoaded(adapter)) {
        this.#own.add(name);
        this.#failed.delete(name);
        continue;
      }
      const isDue = (this.#failed.get(name)?.dueAt ?? 0) <= now();
      if (isDue && !this.#loading.has(name) && this.#loading.size < maxLoading) {
        const stopping = new AbortController();
        const done = this.#load(adapter, stopping.signal).finally(() => this.#loading.delete(name));
        this.#loading.set(name, { adapter, stopping, done });
      }
    }
  }

  #isLoaded({ name, uri }: NamedAdapter): boolean {
    return this.#parts.service.uriOf(name) === uri;
  }

  #isWanted({ name, uri }: NamedAdapter): boolean {
    return this.#wanted.some((each) => each.name === name && each.uri === uri);
  }

  async #load(adapter: NamedAdapter, stopped: AbortSignal): Promise<void> {
    const { service, obtain, logger, now } = this.#parts;
    const late = AbortSignal.timeout(maxLoadMs);
    try {
      // What administrators loaded under the name stays.
      const isOwn = this.#own.has(adapter.name);
      const bounded: Obtain = (uri) => obtain(uri, AbortSignal.any([stopped, late]));
      await (isOwn ? service.replace(adapter, bounded) : service.load(adapter, bounded));
      this.#own.add(adapter.name);
      this.#failed.delete(adapter.name);
    } catch (error) {
      if (!this.#isWanted(adapter)) return;
      const waited = `its files did not come in ${String(maxLoadMs / 60_000)} minutes`;
      const message = late.aborted ? waited : (error as Error).message;
      const before = this.#failed.get(adapter.name);
      const times = (before?.times ?? 0) + 1;
      this.#failed.set(adapter.name, { times, message, dueAt: now() + backoffMs(times, backoff) });
      if (before?.message !== message)
        logger.error('adapter not loaded; it is tried again', { ...adapter, cause: message });
    }
  }

  /** From now on it is not found; its room is free once no request uses it. */
  #unload(name: string): void {
    const { service, logger } = this.#parts;
    this.#own.delete(name);
    service.unload(name).then(
      () => {
        // What found no room has it now.
        for (const each of this.#failed.values()) each.dueAt = 0;
      },
      (error: unknown) => logger.warn('adapter not unloaded', { name, cause: (error as Error).message }),
    );
  }
}
