// Runs the batches of a store that no other pod runs: looks for them now and again, and when there is a new one here.

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { BatchRun, type RunParts } from './batch-run.js';
import type { QueuedBatch } from './stored-batches.js';

/** At once; each has rows as there are places. */
const maxBatches = 4;
const pollMs = 5_000;
/** For what is answered to be stored. A batch that is not given back is taken over when its lease has run out. */
const farewellMs = 5_000;

export interface RunnerParts extends RunParts {
  /** Whether requests can be answered here. */
  readonly isServing: () => boolean;
}

interface Running {
  readonly run: BatchRun;
  readonly folder: string;
  readonly ended: Promise<void>;
}

export class BatchRunner {
  readonly #running = new Map<string, Running>();
  readonly #leaving = new AbortController();
  readonly #holder = `${hostname()}-${randomUUID()}`;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  #isAsked = false;

  constructor(private readonly parts: RunnerParts) {}

  get running(): number {
    return this.#running.size;
  }

  start(): void {
    this.#timer = setInterval(() => this.look(), pollMs).unref();
  }

  /** There may be a batch to run. */
  look(): void {
    // What came since one began may not be in what it found.
    this.#isAsked = true;
    this.#looking ??= this.#lookWhileAsked().finally(() => {
      this.#looking = null;
    });
  }

  /** The batch was changed by its client. */
  changed(id: string): void {
    const running = this.#running.get(id);
    if (running === undefined) this.look();
    else running.run.lookSoon();
  }

  /** No more rows begin, here. Idempotent. */
  leave(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#leaving.abort(new Error('the replica is to stop'));
  }

  /** Once the rows under way have ended, and what they were answered is stored; or the time for that is over. */
  async close(): Promise<void> {
    this.leave();
    const ended = async (): Promise<void> => {
      await this.#looking;
      await Promise.all([...this.#running.values()].map((running) => running.ended));
    };
    const waited = new AbortController();
    await Promise.race([
      ended(),
      wait(farewellMs, undefined, { signal: waited.signal }).catch(() => undefined),
    ]);
    waited.abort();
  }

  async #lookWhileAsked(): Promise<void> {
    while (this.#isAsked) {
      this.#isAsked = false;
      await this.#look().catch((error: unknown) => {
        this.parts.logger.warn('batches cannot be looked for', { cause: String(error) });
      });
    }
  }

  async #look(): Promise<void> {
    const { batches, isServing, clock, leaseMs } = this.parts;
    if (!this.#mayBegin() || !isServing()) return;
    const queued = (await batches.queue()).filter(({ id }) => !this.#running.has(id));
    for (const at of this.#inTurn(queued)) {
      if (!this.#mayBegin()) return;
      const batch = await batches.claim(at, { holder: this.#holder, until: clock() + leaseMs });
      if (batch !== null) this.#begin(at, new BatchRun(this.parts, batch, this.#holder));
    }
  }

  #mayBegin(): boolean {
    return this.#running.size < maxBatches && !this.#leaving.signal.aborted;
  }

  /** Owners of whom fewest run here come first, and then what waits longest. */
  #inTurn(queued: readonly QueuedBatch[]): QueuedBatch[] {
    const placeOf = new Map<string, number>();
    for (const { folder } of this.#running.values()) placeOf.set(folder, (placeOf.get(folder) ?? 0) + 1);
    return queued
      .map((at) => {
        const place = placeOf.get(at.folder) ?? 0;
        placeOf.set(at.folder, place + 1);
        return { at, place };
      })
      .sort((a, b) => a.place - b.place)
      .map(({ at }) => at);
  }

  #begin({ id, folder }: QueuedBatch, run: BatchRun): void {
    const ended = run.run(this.#leaving.signal).then((isOver) => {
      this.#running.delete(id);
      // Another one may have waited for its place. One that could not continue here is tried again at the next look.
      if (isOver) this.look();
    });
    this.#running.set(id, { run, folder, ended });
  }
}
