// Batches of API keys over a store of objects: batches/OWNER/ID.json is a batch, queue/ID.OWNER says that it is not over.
// A batch is changed by a write that succeeds only if it is still as it was read.

import { ApiError } from '../../request/body/api-error.js';
import { untilWritten } from '../until-written.js';
import { claim, completionWindowMs, isOver, noUsage, type Batch, type Lease } from './batch.js';
import { asJson, jsonOf, type ObjectStore } from '../objects/object-store.js';
import { batchPrefix, filePrefix, folderOf, isId, timedId } from './stored-ids.js';

/** Of one owner, not over. */
const maxQueued = 100;
/** A batch is written right behind its entry in the queue. */
const orphanMs = 3_600_000;
const empty = Buffer.from('-');

/** Where a batch lies. */
export interface QueuedBatch {
  readonly id: string;
  readonly folder: string;
}

export class StoredBatches {
  /** @param clock Unix time in milliseconds */
  constructor(
    private readonly objects: ObjectStore,
    private readonly clock: () => number,
  ) {}

  /** @throws ApiError rate_limit_exceeded */
  async create(owner: string, asked: Pick<Batch, 'endpoint' | 'inputFileId' | 'metadata'>): Promise<Batch> {
    const folder = folderOf(owner);
    const queued = (await this.queue()).filter((each) => each.folder === folder);
    if (queued.length >= maxQueued) {
      const message = `${String(queued.length)} batches of this API key are not over, and the limit is ${String(maxQueued)}: wait for them, or cancel some`;
      throw ApiError.of('rate_limit_exceeded', message, { retryAfterSeconds: 60 });
    }
    const createdAt = this.clock();
    const batch: Batch = {
      ...asked,
      id: timedId(batchPrefix, createdAt),
      owner,
      status: 'validating',
      at: {},
      createdAt,
      expiresAt: createdAt + completionWindowMs,
      errors: [],
      total: 0,
      completed: 0,
      failed: 0,
      usage: noUsage,
      done: [],
      outputFileId: timedId(filePrefix, createdAt),
      errorFileId: timedId(filePrefix, createdAt),
      outputs: [],
      failures: [],
      lease: null,
      losses: 0,
    };
    await this.objects.put(entryOf({ id: batch.id, folder }), empty, 'anything');
    await this.objects.put(keyOf({ id: batch.id, folder }), asJson(batch), 'nothing');
    return batch;
  }

  /** @throws ApiError batch_not_found */
  async require(owner: string, id: string): Promise<Batch> {
    const object = isId(batchPrefix, id)
      ? await this.objects.get(keyOf({ id, folder: folderOf(owner) }))
      : null;
    if (object === null) throw notFound(id);
    return jsonOf(object) as Batch;
  }

  /** Ids of all that are there, the newest first. */
  async ids(owner: string): Promise<readonly string[]> {
    const root = `batches/${folderOf(owner)}/`;
    const objects = await this.objects.list(root);
    return objects.map(({ key }) => key.slice(root.length, -'.json'.length)).reverse();
  }

  /** Those of a list that are still there. */
  async existing(owner: string, ids: readonly string[]): Promise<readonly Batch[]> {
    const folder = folderOf(owner);
    const objects = await Promise.all(ids.map((id) => this.objects.get(keyOf({ id, folder }))));
    return objects.filter((object) => object !== null).map((object) => jsonOf(object) as Batch);
  }

  /**
   * The batch as it is afterwards.
   * @param make from the batch as it is now; is called again where another change came first
   * @throws ApiError batch_not_found, server_busy; what `make` throws
   */
  change(at: QueuedBatch, make: (batch: Batch) => Batch): Promise<Batch> {
    return untilWritten(async () => {
      const object = await this.objects.get(keyOf(at));
      if (object === null) throw notFound(at.id);
      const before = jsonOf(object) as Batch;
      const after = make(before);
      if (after === before) return before;
      const written = await this.objects.put(keyOf(at), asJson(after), { etag: object.etag });
      if (written === null) return null;
      if (isOver(after)) await this.objects.delete(entryOf(at));
      return after;
    }, 'the batch');
  }

  /** All that are not over, the oldest first. */
  async queue(): Promise<readonly QueuedBatch[]> {
    const entries = await this.objects.list('queue/');
    return entries.map(({ key }) => {
      const [id = '', folder = ''] = key.slice('queue/'.length).split('.');
      return { id, folder };
    });
  }

  /** The batch under the lease; null: there is nothing to do, or another pod does it. */
  async claim(at: QueuedBatch, lease: Lease): Promise<Batch | null> {
    const object = await this.objects.get(keyOf(at));
    if (object === null) {
      if (timeOf(at.id) + orphanMs < this.clock()) await this.objects.delete(entryOf(at));
      return null;
    }
    const batch = jsonOf(object) as Batch;
    // Whoever ended it ended before this was deleted.
    if (isOver(batch)) await this.objects.delete(entryOf(at));
    const claimed = claim(batch, lease, this.clock());
    if (claimed === null) return null;
    const written = await this.objects.put(keyOf(at), asJson(claimed), { etag: object.etag });
    return written === null ? null : claimed;
  }
}

export const placeOf = ({ id, owner }: Pick<Batch, 'id' | 'owner'>): QueuedBatch => ({
  id,
  folder: folderOf(owner),
});

const keyOf = ({ id, folder }: QueuedBatch): string => `batches/${folder}/${id}.json`;
const entryOf = ({ id, folder }: QueuedBatch): string => `queue/${id}.${folder}`;
const timeOf = (id: string): number =>
  Number.parseInt(id.slice(batchPrefix.length, batchPrefix.length + 12), 16);

function notFound(id: string): ApiError {
  const message = `No batch found with id '${id}': it was not created under this API key, or is too old`;
  return ApiError.of('batch_not_found', message);
}
