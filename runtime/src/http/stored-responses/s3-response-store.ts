// Responses as objects PREFIX/OWNER/ID.json of a bucket: every pod of a service finds them, and they outlive pods. What
// store-ledger.ts evicts is deleted by a sweep, so limits are exceeded by what is stored between two sweeps.

import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { ApiError } from '../../request/body/api-error.js';
import { largestBytes, StoreLedger, type LedgerEntry, type StoreLimits } from './store-ledger.js';
import type { Asker, ResponseStore, StoredResponse } from './stored-response.js';

export interface S3StoreOptions {
  readonly bucket: string;
  /** Empty, or ending in a slash. Nothing else is stored under it. */
  readonly prefix: string;
  readonly limits: StoreLimits;
  /** Unix time in milliseconds. */
  readonly clock: () => number;
  /** Of one request to S3 with its retries, in milliseconds. */
  readonly deadlineMs?: number;
}

/** Answers wait until they are stored. */
const defaultDeadlineMs = 5_000;

/** What our ids are: no other is looked up, whatever a client sends. */
const idPattern = /^resp_[0-9a-f]{32}$/;

export class S3ResponseStore implements ResponseStore {
  readonly isShared = true;

  constructor(
    private readonly options: S3StoreOptions,
    private readonly client: Pick<S3Client, 'send'>,
  ) {}

  /** @throws ApiError server_busy: S3 is out of reach */
  async get({ owner, take }: Asker, id: string): Promise<StoredResponse | null> {
    if (!idPattern.test(id)) return null;
    try {
      const {
        Body,
        ContentLength = 0,
        LastModified,
      } = await this.client.send(
        new GetObjectCommand({ Bucket: this.options.bucket, Key: this.#keyOf(owner, id) }),
        this.#soon(),
      );
      if (Body === undefined) return null;
      try {
        if (this.#isTooOld(LastModified)) return null;
        take(ContentLength);
        // `put` alone writes these objects.
        return JSON.parse(await Body.transformToString()) as StoredResponse;
      } finally {
        // What is not read would keep its connection.
        if (Body instanceof Readable) Body.destroy();
      }
    } catch (error) {
      if (isMissing(error)) return null;
      throw outOfReach(error);
    }
  }

  /** @throws ApiError server_busy: S3 is out of reach */
  async put(owner: string, stored: StoredResponse): Promise<boolean> {
    const body = Buffer.from(JSON.stringify(stored));
    if (body.length > largestBytes(this.options.limits)) return false;
    const Key = this.#keyOf(owner, stored.response.id);
    const put = { Bucket: this.options.bucket, Key, Body: body, ContentType: 'application/json' };
    await reached(this.client.send(new PutObjectCommand(put), this.#soon()));
    return true;
  }

  /** @throws ApiError server_busy: S3 is out of reach */
  async delete(owner: string, id: string): Promise<boolean> {
    if (!idPattern.test(id)) return false;
    const Key = this.#keyOf(owner, id);
    // S3 does not say whether there was something to delete.
    if (!(await this.#has(Key))) return false;
    await this.#delete(Key);
    return true;
  }

  /** Deletes what is beyond the limits. @throws ApiError server_busy: S3 is out of reach */
  async sweep(): Promise<number> {
    const { limits, prefix, clock } = this.options;
    const ledger = new StoreLedger(limits);
    const objects = await this.#list();
    for (const object of objects.sort((a, b) => a.expiresAt - b.expiresAt)) ledger.add(object);
    const surplus = [...ledger.expire(clock()), ...ledger.makeRoom(0, 0)];
    for (const { owner, id } of surplus) await this.#delete(`${prefix}${owner}/${id}.json`);
    return surplus.length;
  }

  async #list(): Promise<LedgerEntry[]> {
    const { bucket, prefix, limits } = this.options;
    const objects: LedgerEntry[] = [];
    let from: string | undefined;
    do {
      const asked = {
        Bucket: bucket,
        Prefix: prefix,
        ...(from === undefined ? {} : { ContinuationToken: from }),
      };
      const page = await reached(this.client.send(new ListObjectsV2Command(asked), this.#soon()));
      for (const { Key = '', Size: bytes = 0, LastModified } of page.Contents ?? []) {
        const [, owner, id] =
          /^([0-9a-f]{32})\/(resp_[0-9a-f]{32})\.json$/.exec(Key.slice(prefix.length)) ?? [];
        const expiresAt = (LastModified?.getTime() ?? 0) + limits.maxAgeMs;
        if (owner !== undefined && id !== undefined) objects.push({ owner, id, bytes, expiresAt });
      }
      from = page.NextContinuationToken;
    } while (from !== undefined);
    return objects;
  }

  async #has(Key: string): Promise<boolean> {
    const head = new HeadObjectCommand({ Bucket: this.options.bucket, Key });
    try {
      return !this.#isTooOld((await this.client.send(head, this.#soon())).LastModified);
    } catch (error) {
      if (isMissing(error)) return false;
      throw outOfReach(error);
    }
  }

  #soon(): { readonly abortSignal: AbortSignal } {
    return { abortSignal: AbortSignal.timeout(this.options.deadlineMs ?? defaultDeadlineMs) };
  }

  #isTooOld(storedAt: Date | undefined): boolean {
    const { limits, clock } = this.options;
    return (storedAt?.getTime() ?? 0) + limits.maxAgeMs <= clock();
  }

  async #delete(Key: string): Promise<void> {
    await reached(
      this.client.send(new DeleteObjectCommand({ Bucket: this.options.bucket, Key }), this.#soon()),
    );
  }

  /** Ids of keys may have any characters. */
  #keyOf(owner: string, id: string): string {
    const folder = createHash('sha256').update(owner).digest('hex').slice(0, 32);
    return `${this.options.prefix}${folder}/${id}.json`;
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && ['NoSuchKey', 'NotFound'].includes(error.name);

async function reached<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw outOfReach(error);
  }
}

/** Without S3's own words, which may name what clients are not to know. */
function outOfReach(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const message =
    'stored responses are out of reach: send the request again, or with store: false and its items';
  return ApiError.of('server_busy', message, { retryAfterSeconds: 1 });
}
