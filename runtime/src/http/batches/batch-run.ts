// One batch while this pod runs it: checked, answered row by row, and ended.

import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../log/logger.js';
import { ApiError } from '../../request/body/api-error.js';
import { become, isOver, noUsage, type Batch, type BatchStatus } from './batch.js';
import { batchErrors, errorLine, type LineError } from './batch-row.js';
import { BatchWrites, type WriteParts } from './batch-writes.js';
import { checkRows, customIdOf } from './check-rows.js';
import type { Line } from './line-reader.js';
import { numberedLines } from './numbered-lines.js';
import { newRequestId, RowAnswers } from './row-answers.js';
import { countRows, hasRow } from './row-ranges.js';
import type { SendRow } from './send-row.js';
import type { Slots } from './slots.js';
import type { ContentPart, StoredFile } from './stored-file.js';

export interface RunParts extends WriteParts {
  readonly send: SendRow;
  /** Rows that are answered at once, of all batches. */
  readonly slots: Slots;
  readonly maxLineBytes: number;
  readonly logger: Logger;
  readonly events: BatchEvents;
}

export interface BatchEvents {
  rowEnded(isOk: boolean): void;
  batchEnded(status: BatchStatus): void;
}

/** Why rows that are being answered are not waited for any more; left: they are answered elsewhere. */
type Ending = 'left' | 'cancelled' | 'expired';

/** Parts of a lease after which it is renewed. */
const beatsPerLease = 4;
/** Answers that wait to be stored: from so many on they are stored at once, and from so many on no more are made. */
const storedAtBytes = 1024 * 1024;
const maxHeldBytes = 8 * 1024 * 1024;
/** Pods that were lost one after the other without one answer: the next would be, too. */
const maxLosses = 5;

export class BatchRun {
  readonly #ending = new AbortController();
  readonly #writes: BatchWrites;
  #ended: Ending | null = null;
  #isLooking = false;

  /** @param batch claimed by this holder */
  constructor(
    private readonly parts: RunParts,
    batch: Batch,
    holder: string,
  ) {
    this.#writes = new BatchWrites(parts, batch, holder);
  }

  /**
   * Until the batch is over, or is left to another pod. Does not throw.
   * @param leaving aborted when no more rows are to begin
   * @returns whether it is over
   */
  async run(leaving: AbortSignal): Promise<boolean> {
    const { clock, logger, leaseMs, events } = this.parts;
    const { id, expiresAt, status } = this.#writes.batch;
    const beat = setInterval(() => this.lookSoon(), leaseMs / beatsPerLease).unref();
    const late = setTimeout(() => this.#end('expired'), Math.max(0, expiresAt - clock())).unref();
    try {
      if (status === 'cancelling') this.#end('cancelled');
      await this.#work(leaving);
      const { batch } = this.#writes;
      if (isOver(batch)) events.batchEnded(batch.status);
      logger.info('a batch is left or over', { id, status: batch.status, total: batch.total });
    } catch (error) {
      logger.warn('a batch is left to another pod', { id, cause: String(error) });
    } finally {
      clearInterval(beat);
      clearTimeout(late);
      this.#end('left');
    }
    return isOver(this.#writes.batch);
  }

  /** What is answered is stored, and what its client wants of it is found out. */
  lookSoon(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#look()
      .catch((error: unknown) => {
        if (!isAway(error)) this.#end('left');
      })
      .finally(() => {
        this.#isLooking = false;
      });
  }

  async #look(): Promise<void> {
    await this.#writes.write();
    if (this.#writes.batch.status === 'cancelling') this.#end('cancelled');
  }

  async #work(leaving: AbortSignal): Promise<void> {
    const { losses, inputFileId } = this.#writes.batch;
    if (losses > maxLosses) return this.#fail([batchErrors.lost(losses)]);
    const input = await this.#input();
    if (input === null) return this.#fail([batchErrors.noInput(inputFileId)]);
    try {
      if (this.#writes.batch.status === 'validating') await this.#check(input, leaving);
      if (this.#writes.batch.status === 'in_progress') await this.#answer(input, leaving);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'file_not_found') throw error;
      this.#end('left');
      return this.#fail([batchErrors.noInput(inputFileId)]);
    }
    await this.#writes.flush();
    const { status, done, total } = this.#writes.batch;
    if (isOver(this.#writes.batch)) return;
    if (status === 'cancelling') return this.#conclude('cancelled');
    if (this.#ended === 'expired') {
      if (status === 'in_progress') await this.#expire(input);
      return this.#conclude('expired');
    }
    if (status === 'validating' || countRows(done) < total)
      return this.#writes.settle((batch) => ({ ...batch, lease: null }));
    await this.#writes.settle((batch) => become(batch, 'finalizing', this.parts.clock()));
    return this.#conclude('completed');
  }

  /** Null: it is gone. */
  #input(): Promise<StoredFile | null> {
    const { owner, inputFileId } = this.#writes.batch;
    return this.#writes.reached(
      async () => (await this.parts.files.existing(owner, [inputFileId]))[0] ?? null,
    );
  }

  /** Waits for a store that is away. @throws ApiError file_not_found: it was deleted meanwhile */
  #lines({ parts }: StoredFile): AsyncGenerator<Line> {
    const { files, maxLineBytes } = this.parts;
    const writes = this.#writes;
    async function* contents(): AsyncGenerator<Buffer> {
      for (const part of parts) yield await writes.reached(() => files.part(part));
    }
    return numberedLines(contents(), maxLineBytes);
  }

  async #check(input: StoredFile, leaving: AbortSignal): Promise<void> {
    const { maxLineBytes, clock } = this.parts;
    const over = AbortSignal.any([this.#ending.signal, leaving]);
    const { endpoint } = this.#writes.batch;
    const { total, errors } = await checkRows(this.#lines(input), endpoint, maxLineBytes, over);
    if (over.aborted) return;
    if (errors.length > 0) await this.#fail(errors);
    else await this.#writes.settle((batch) => become({ ...batch, total }, 'in_progress', clock()));
  }

  async #answer(input: StoredFile, leaving: AbortSignal): Promise<void> {
    const { slots, maxLineBytes, send } = this.parts;
    const ending = this.#ending.signal;
    const over = AbortSignal.any([ending, leaving]);
    // Each row listens.
    setMaxListeners(0, ending, over);
    const { owner, endpoint } = this.#writes.batch;
    const answers = new RowAnswers({ send, slots, owner, endpoint, maxLineBytes, ending, over });
    const open = new Set<Promise<void>>();
    let row = -1;
    for await (const line of this.#lines(input)) {
      row += 1;
      if (hasRow(this.#writes.batch.done, row)) continue;
      while (open.size >= slots.count) await Promise.race(open);
      await this.#room(over);
      if (over.aborted) break;
      const task: Promise<void> = this.#answerRow(answers, line, row).finally(() => open.delete(task));
      open.add(task);
    }
    await Promise.all(open);
  }

  async #answerRow(answers: RowAnswers, line: Line, row: number): Promise<void> {
    const answered = await answers.of(line, row);
    if (answered === null) return;
    this.#writes.answered.add(answered);
    this.parts.events.rowEnded(answered.isOk);
    if (this.#writes.answered.bytes >= storedAtBytes) this.lookSoon();
  }

  /** Until what is answered can be stored: while the store is away, or the lease has run out, no row begins. */
  async #room(over: AbortSignal): Promise<void> {
    while ((!this.#writes.isHeld || this.#writes.answered.bytes > maxHeldBytes) && !over.aborted) {
      try {
        await this.#look();
      } catch (error) {
        if (isAway(error)) await wait(this.parts.retryMs);
        else this.#end('left');
      }
    }
  }

  /** What has not been answered never will be. */
  async #expire(input: StoredFile): Promise<void> {
    const { done } = this.#writes.batch;
    const message = 'This request could not be executed before the completion window expired.';
    let row = -1;
    for await (const { bytes } of this.#lines(input)) {
      row += 1;
      if (hasRow(done, row)) continue;
      const line = errorLine(newRequestId(), customIdOf(bytes), 'batch_expired', message);
      this.#writes.answered.add({ row, isOk: false, line, usage: noUsage });
    }
    await this.#writes.flush();
  }

  /** Its files are there before it is over. A client may have cancelled it in the last moment. */
  async #conclude(status: BatchStatus): Promise<void> {
    const { clock } = this.parts;
    await this.#publish();
    await this.#writes.settle((batch) => {
      const over = become(batch, status, clock());
      return isOver(over) ? over : become(over, 'cancelled', clock());
    });
  }

  #publish(): Promise<void> {
    const { owner, outputFileId, errorFileId, outputs, failures, id } = this.#writes.batch;
    const publish = async (fileId: string, name: string, parts: readonly ContentPart[]): Promise<void> => {
      const file = { id: fileId, filename: `${id}_${name}.jsonl`, purpose: 'batch_output', parts } as const;
      if (parts.length > 0) await this.parts.files.publish(owner, file);
    };
    return this.#writes.reached(async () => {
      await publish(outputFileId, 'output', outputs);
      await publish(errorFileId, 'error', failures);
    });
  }

  async #fail(errors: readonly LineError[]): Promise<void> {
    await this.#writes.settle((batch) => ({ ...batch, errors }));
    await this.#conclude('failed');
  }

  #end(ending: Ending): void {
    if (this.#ended !== null) return;
    this.#ended = ending;
    this.#ending.abort(new Error(ending));
  }
}

/** The store, for now. */
const isAway = (error: unknown): boolean => error instanceof ApiError && error.code === 'server_busy';
