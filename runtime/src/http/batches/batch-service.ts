// Files and batches of one replica: where they are stored, and what runs them.

import type { Logger } from '../../log/logger.js';
import type { BatchEvents } from './batch-run.js';
import { BatchRunner } from './batch-runner.js';
import type { ObjectStore } from '../objects/object-store.js';
import type { SendRow } from './send-row.js';
import { Slots } from './slots.js';
import { StoredBatches } from './stored-batches.js';
import { StoredFiles, type FileLimits } from './stored-files.js';
import { sweep } from './sweep.js';

export interface BatchServiceOptions {
  readonly limits: FileLimits;
  /** Rows that are answered at once. */
  readonly maxConcurrent: number;
  /** Of a line of an input file. */
  readonly maxLineBytes: number;
  /** After which another pod takes over the batches of one that is lost. */
  readonly leaseMs?: number;
  readonly retryMs?: number;
  /** Unix time in milliseconds. */
  readonly clock?: () => number;
  readonly isServing: () => boolean;
  readonly send: SendRow;
  readonly events: BatchEvents;
  readonly logger: Logger;
}

/** Several beats, and what clocks of pods may differ by. */
const defaultLeaseMs = 60_000;
const defaultRetryMs = 1_000;
/** Each lists all that is stored. */
const sweepMs = 600_000;
/** Until a store is asked again that was away. */
const awayMs = 5_000;

export class BatchService {
  readonly files: StoredFiles;
  readonly batches: StoredBatches;
  readonly runner: BatchRunner;
  #timer: NodeJS.Timeout | null = null;
  /** Whether writes to the store are held to their conditions. */
  #conditions: 'unknown' | 'held' | 'ignored';
  #isLooking = false;

  constructor(
    private readonly objects: ObjectStore,
    private readonly options: BatchServiceOptions,
  ) {
    const { limits, maxConcurrent, clock = Date.now } = options;
    const { leaseMs = defaultLeaseMs, retryMs = defaultRetryMs } = options;
    this.files = new StoredFiles(objects, limits, clock);
    this.batches = new StoredBatches(objects, clock);
    const { files, batches } = this;
    const slots = new Slots(maxConcurrent);
    this.#conditions = objects.isShared ? 'unknown' : 'held';
    const isServing = (): boolean => this.#conditions === 'held' && options.isServing();
    this.runner = new BatchRunner({ ...options, isServing, files, batches, slots, clock, leaseMs, retryMs });
  }

  /** Why no batch runs here; null: none keeps them from it. */
  get refusal(): string | null {
    return this.#conditions === 'ignored' ? noConditions : null;
  }

  start(): void {
    this.#look();
    this.#timer = setInterval(() => this.#look(), sweepMs).unref();
    this.runner.start();
  }

  /** Once what is answered is stored. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.runner.close();
  }

  /** Asks the store what it can, until that is known, and deletes what is too old. */
  #look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#check()
      .then(() => this.#sweep())
      .catch((error: unknown) => {
        this.options.logger.error('the store of files and batches is away', { cause: String(error) });
        if (this.#conditions === 'unknown') setTimeout(() => this.#look(), awayMs).unref();
      })
      .finally(() => {
        this.#isLooking = false;
      });
  }

  async #check(): Promise<void> {
    if (this.#conditions !== 'unknown') return;
    this.#conditions = (await this.objects.hasConditions()) ? 'held' : 'ignored';
    if (this.refusal !== null) this.options.logger.error('no batch runs', { cause: this.refusal });
    this.runner.look();
  }

  async #sweep(): Promise<void> {
    const { clock = Date.now, logger } = this.options;
    const deleted = await sweep(this.objects, this.files, clock());
    logger.debug('files and batches are swept', { deleted });
  }
}

const noConditions =
  'no batches run here: the S3 server does not hold writes to their conditions (If-None-Match and If-Match of PutObject)';
