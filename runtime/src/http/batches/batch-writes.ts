// What a pod writes of a batch that it runs: changes and answers, under its lease, which each write renews. A pod that was
// held up so long that another took the batch over writes nothing.

import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { ApiError } from '../../request/body/api-error.js';
import { AnsweredRows } from './answered-rows.js';
import { advance, isOver, type Batch } from './batch.js';
import { placeOf, type StoredBatches } from './stored-batches.js';
import { partKey, type StoredFiles } from './stored-files.js';

export interface WriteParts {
  readonly batches: StoredBatches;
  readonly files: StoredFiles;
  /** Unix time in milliseconds. */
  readonly clock: () => number;
  readonly leaseMs: number;
  readonly retryMs: number;
}

/** Another pod has taken it over. */
export class BatchLost extends Error {
  override readonly name = 'BatchLost';
}

export class BatchWrites {
  readonly answered = new AnsweredRows();
  #batch: Batch;
  #last: Promise<unknown> = Promise.resolve();
  /** Whether a write would have ended the batch. */
  #hasEnded = false;

  /** @param batch claimed by this holder */
  constructor(
    private readonly parts: WriteParts,
    batch: Batch,
    private readonly holder: string,
  ) {
    this.#batch = batch;
  }

  /** As it was written last. */
  get batch(): Batch {
    return this.#batch;
  }

  /** Whether no other pod may have taken it over yet. */
  get isHeld(): boolean {
    return (this.#batch.lease?.until ?? 0) > this.parts.clock();
  }

  /**
   * Stores what is answered, makes the change, and finds out what its client wants of it. One after the other.
   * @throws BatchLost; ApiError server_busy, batch_not_found
   */
  write(change: (batch: Batch) => Batch = (batch) => batch): Promise<void> {
    const written = this.#last.then(() => this.#write(change));
    this.#last = written.catch(() => undefined);
    return written;
  }

  /** The same, as soon as the store is there. @throws BatchLost */
  settle(change?: (batch: Batch) => Batch): Promise<void> {
    return this.reached(() => this.write(change));
  }

  /** Stores all that is answered. @throws BatchLost */
  async flush(): Promise<void> {
    do await this.settle();
    while (this.answered.bytes > 0);
  }

  /** Asks again and again while the store is away, for as long as the lease may be this pod's. */
  async reached<T>(ask: () => Promise<T>): Promise<T> {
    const { clock, leaseMs, retryMs } = this.parts;
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        const isAway = error instanceof ApiError && error.code === 'server_busy';
        if (!isAway || (this.#batch.lease?.until ?? 0) + leaseMs < clock()) throw error;
        await wait(retryMs);
      }
    }
  }

  async #write(change: (batch: Batch) => Batch): Promise<void> {
    const { batches, files, clock, leaseMs } = this.parts;
    const { owner, outputFileId, errorFileId } = this.#batch;
    if (isOver(this.#batch)) return;
    const taken = this.answered.take((isOk) =>
      partKey(owner, isOk ? outputFileId : errorFileId, `${String(clock())}-${randomUUID()}`),
    );
    for (const { part, body } of taken?.parts ?? []) await files.putPart(part, body);
    this.#batch = await batches.change(placeOf(this.#batch), (batch) => {
      // The answer to that write was lost.
      if (isOver(batch) && this.#hasEnded) return batch;
      if (batch.lease?.holder !== this.holder) throw new BatchLost('another pod runs the batch, or did');
      const renewed = { ...batch, lease: { holder: this.holder, until: clock() + leaseMs } };
      const changed = change(taken === null ? renewed : advance(renewed, taken.progress));
      this.#hasEnded ||= isOver(changed);
      return changed;
    });
    if (taken !== null) this.answered.stored();
  }
}
