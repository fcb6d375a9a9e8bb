// A store of files and batches, pods that run them, and answers that a test decides.

import { setTimeout as wait } from 'node:timers/promises';
import { makeLogger } from '../../log/logger.js';
import { ApiError } from '../../request/body/api-error.js';
import { isOver, type Batch, type BatchStatus } from './batch.js';
import { BatchRun, type RunParts } from './batch-run.js';
import { MemoryObjectStore } from '../objects/memory-object-store.js';
import type { Before } from '../objects/object-store.js';
import type { SendRow } from './send-row.js';
import { Slots } from './slots.js';
import { placeOf, StoredBatches } from './stored-batches.js';
import { StoredFiles } from './stored-files.js';

/** A store that can go away for a while, and lose answers of writes. */
export class FlakyStore extends MemoryObjectStore {
  isAway = false;
  /** Writes that succeed without their pod getting to know. */
  lostAnswers = 0;

  override async get(key: string): ReturnType<MemoryObjectStore['get']> {
    this.#requireHere();
    return super.get(key);
  }

  override async put(key: string, body: Buffer, before: Before): Promise<string | null> {
    this.#requireHere();
    const etag = await super.put(key, body, before);
    if (this.lostAnswers > 0 && key.startsWith('batches/')) {
      this.lostAnswers -= 1;
      throw ApiError.of('server_busy', 'the answer was lost');
    }
    return etag;
  }

  #requireHere(): void {
    if (this.isAway) throw ApiError.of('server_busy', 'away');
  }
}

export const rowLine = (id: number | string, body: object = { prompt: String(id) }): string =>
  JSON.stringify({ custom_id: String(id), method: 'POST', url: '/v1/completions', body });

export const okAnswer = (text = 'Hi'): Awaited<ReturnType<SendRow>> => ({
  status: 200,
  requestId: 'r',
  body: JSON.stringify({ text, usage: { prompt_tokens: 2, completion_tokens: 3 } }),
});

/** A line of an output or error file. */
export interface ResultLine {
  readonly custom_id: string;
  readonly response: { readonly status_code: number; readonly body: unknown } | null;
  readonly error: { readonly code: string } | null;
}

interface RunOptions {
  readonly holder?: string;
  readonly leaving?: AbortSignal;
  readonly slots?: number;
  readonly leaseMs?: number;
}

export class BatchWorld {
  readonly store = new FlakyStore();
  readonly clock = (): number => this.#begunAt + this.later;
  /** Time passes only so: no lease runs out because the machine is slow. */
  later = 0;
  readonly #begunAt = Date.now();
  readonly files = new StoredFiles(
    this.store,
    { maxBytes: 1e9, maxFileBytes: 1e8, maxAgeMs: 1e10 },
    this.clock,
  );
  readonly batches = new StoredBatches(this.store, this.clock);
  readonly ended: BatchStatus[] = [];
  /** Ids of rows as they were sent. */
  readonly sent: string[] = [];
  /** Answers a row by its prompt. */
  answer: (prompt: string, signal: AbortSignal) => Promise<Awaited<ReturnType<SendRow>>> = () =>
    Promise.resolve(okAnswer());

  async create(lines: readonly string[], owner = 'a'): Promise<Batch> {
    const writer = this.files.begin(owner);
    for (const line of lines) await writer.add(Buffer.from(`${line}\n`));
    const { id } = await writer.end('in.jsonl', 'batch');
    return this.batches.create(owner, { endpoint: '/v1/completions', inputFileId: id, metadata: null });
  }

  /** A pod runs the batch until it ends or is left; null: another pod does. */
  async run(
    { id, owner }: Batch,
    { holder = 'pod-a', leaving = new AbortController().signal, slots = 4, leaseMs = 200 }: RunOptions = {},
  ): Promise<boolean | null> {
    const lease = { holder, until: this.clock() + leaseMs };
    const claimed = await this.batches.claim(placeOf({ id, owner }), lease);
    if (claimed === null) return null;
    return new BatchRun(this.parts({ slots, leaseMs }), claimed, holder).run(leaving);
  }

  /** What a pod runs batches with. */
  parts({ slots = 4, leaseMs = 200 } = {}): RunParts {
    const { files, batches, clock } = this;
    return {
      files,
      batches,
      clock,
      leaseMs,
      retryMs: 10,
      slots: new Slots(slots),
      maxLineBytes: 10_000,
      logger: makeLogger('error'),
      events: { rowEnded: () => undefined, batchEnded: (status) => this.ended.push(status) },
      send: (_owner, _endpoint, body, signal) => {
        const { prompt } = JSON.parse(body) as { prompt: string };
        this.sent.push(prompt);
        return this.answer(prompt, signal);
      },
    };
  }

  now({ id, owner }: Batch): Promise<Batch> {
    return this.batches.require(owner, id);
  }

  /** Once the batch is as the test wants it. */
  async until(batch: Batch, holds: (batch: Batch) => boolean): Promise<Batch> {
    for (let i = 0; i < 5_000; i++) {
      const now = await this.now(batch).catch(() => null);
      if (now !== null && holds(now)) return now;
      await wait(5);
    }
    throw new Error(`the batch stays ${JSON.stringify(await this.now(batch))}`);
  }

  /** Of a batch that is over: the lines of its two files, by custom_id. */
  async results(batch: Batch): Promise<{ outputs: ResultLine[]; errors: ResultLine[] }> {
    const now = await this.now(batch);
    if (!isOver(now)) throw new Error(`the batch is ${now.status}`);
    const linesOf = async (id: string): Promise<ResultLine[]> => {
      const [file] = await this.files.existing('a', [id]);
      if (file === undefined) return [];
      const parts = await Promise.all(file.parts.map((part) => this.files.part(part)));
      const lines = Buffer.concat(parts).toString().split('\n').slice(0, -1);
      return lines
        .map((line) => JSON.parse(line) as ResultLine)
        .sort((a, b) => Number(a.custom_id) - Number(b.custom_id));
    };
    return { outputs: await linesOf(now.outputFileId), errors: await linesOf(now.errorFileId) };
  }
}
