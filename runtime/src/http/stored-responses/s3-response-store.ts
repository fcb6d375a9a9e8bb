// Responses and conversations as objects PREFIX/OWNER/ID.json of a bucket: every pod of a service finds them, and they
// outlive pods. Conversations are changed by writes that succeed only if the object is still as it was read. What
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
import { untilWritten } from '../until-written.js';
import { largestBytes, StoreLedger, type LedgerEntry, type StoreLimits } from './store-ledger.js';
import { idOf, type Asker, type ResponseStore, type Stored } from './stored-response.js';

export interface S3StoreOptions {
  readonly bucket: string;
  /** Empty, or ending in a slash. Nothing else is stored under it. */
  readonly prefix: string;
  readonly limits: StoreLimits;
  /** Unix time in milliseconds. */
  readonly clock: () => number;
  /** Whether S3 holds writes to their conditions. @throws ApiError server_busy */
  readonly hasConditions: () => Promise<boolean>;
  /** Of one request to S3 with its retries, in milliseconds. */
  readonly deadlineMs?: number;
}

/** Answers wait until they are stored. */
const defaultDeadlineMs = 5_000;

/** What our ids are: no other is looked up, whatever a client sends. */
const idPattern = /^(resp|conv)_[0-9a-f]{32}$/;

interface Found {
  readonly stored: Stored;
  readonly etag: string;
}

export class S3ResponseStore implements ResponseStore {
  readonly isShared = true;
  /** Of S3 that has once said what it can. */
  #conditions: boolean | null = null;

  constructor(
    private readonly options: S3StoreOptions,
    private readonly client: Pick<S3Client, 'send'>,
  ) {}

  /** @throws ApiError server_busy: S3 is out of reach */
  async get(asker: Asker, id: string): Promise<Stored | null> {
    return (await this.#find(asker, id))?.stored ?? null;
  }

  /** @throws ApiError server_busy: S3 is out of reach */
  async put(owner: string, stored: Stored): Promise<boolean> {
    const body = this.#bodyOf(stored);
    if (body === null) return false;
    await reached(this.#write(this.#keyOf(owner, idOf(stored)), body));
    return true;
  }

  /** @throws ApiError server_busy: S3 is out of reach, or others change it again and again */
  change(
    { owner, take }: Asker,
    id: string,
    make: (before: Stored) => Stored,
  ): Promise<Stored | 'missing' | 'too large'> {
    let taking = take;
    return untilWritten(async () => {
      const found = await this.#find({ owner, take: taking }, id);
      // There is room for it: it takes the place of what was read before.
      taking = () => undefined;
      if (found === null) return 'missing';
      const after = make(found.stored);
      if (after === found.stored) return after;
      const body = this.#bodyOf(after);
      if (body === null) return 'too large';
      try {
        await this.#write(this.#keyOf(owner, id), body, { IfMatch: found.etag });
        return after;
      } catch (error) {
        if (isMissing(error) || isNamed(error, 'PreconditionFailed', 'ConditionalRequestConflict'))
          return null;
        throw outOfReach(error);
      }
    }, 'the conversation');
  }

  async hasConditions(): Promise<boolean> {
    this.#conditions ??= await this.options.hasConditions();
    return this.#conditions;
  }

  async #find({ owner, take }: Asker, id: string): Promise<Found | null> {
    if (!idPattern.test(id)) return null;
    try {
      const {
        Body,
        ETag = '',
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
        // `#write` alone writes these objects.
        return { stored: JSON.parse(await Body.transformToString()) as Stored, etag: ETag };
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
          /^([0-9a-f]{32})\/((?:resp|conv)_[0-9a-f]{32})\.json$/.exec(Key.slice(prefix.length)) ?? [];
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

  /** Null: it is too large. */
  #bodyOf(stored: Stored): Buffer | null {
    const body = Buffer.from(JSON.stringify(stored));
    return body.length > largestBytes(this.options.limits) ? null : body;
  }

  async #write(Key: string, Body: Buffer, condition: { readonly IfMatch?: string } = {}): Promise<void> {
    const put = { Bucket: this.options.bucket, Key, Body, ContentType: 'application/json', ...condition };
    await this.client.send(new PutObjectCommand(put), this.#soon());
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

const isNamed = (error: unknown, ...names: readonly string[]): boolean =>
  error instanceof Error && names.includes(error.name);
const isMissing = (error: unknown): boolean => isNamed(error, 'NoSuchKey', 'NotFound');

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
