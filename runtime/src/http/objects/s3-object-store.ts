// Objects of a bucket under one prefix. Conditions of writes are S3's If-None-Match and If-Match, which stores may not
// have: `hasConditions` finds that out.

import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { ApiError } from '../../request/body/api-error.js';
import type { Before, ListedObject, ObjectHead, ObjectStore, StoredObject } from './object-store.js';

export interface S3ObjectsOptions {
  readonly bucket: string;
  /** Empty, or ending in a slash. Nothing else is stored under it. */
  readonly prefix: string;
  /** Of one request to S3 with its retries, in milliseconds. */
  readonly deadlineMs: number;
  /** Of every object; S3's own where it is left out. */
  readonly contentType?: string;
  /** The error where S3 is out of reach: S3's own words may name what clients are not to know. */
  readonly outOfReach: string;
}

export class S3ObjectStore implements ObjectStore {
  readonly isShared = true;

  constructor(
    private readonly options: S3ObjectsOptions,
    private readonly client: Pick<S3Client, 'send'>,
  ) {}

  async head(key: string): Promise<ObjectHead | null> {
    try {
      return headOf(await this.client.send(new HeadObjectCommand(this.#at(key)), this.#soon()));
    } catch (error) {
      if (isMissing(error)) return null;
      throw this.#outOfReach(error);
    }
  }

  async get(
    key: string,
    isWanted: (head: ObjectHead) => boolean = (): boolean => true,
  ): Promise<StoredObject | null> {
    try {
      const got = await this.client.send(new GetObjectCommand(this.#at(key)), this.#soon());
      const { Body, ETag = '' } = got;
      if (Body === undefined) return null;
      try {
        if (!isWanted(headOf(got))) return null;
        return { body: Buffer.from(await Body.transformToByteArray()), etag: ETag };
      } finally {
        // What is not read would keep its connection.
        if (Body instanceof Readable) Body.destroy();
      }
    } catch (error) {
      if (isMissing(error)) return null;
      throw this.#outOfReach(error);
    }
  }

  async put(key: string, body: Buffer, before: Before): Promise<string | null> {
    const command = new PutObjectCommand({
      ...this.#at(key),
      Body: body,
      ...(this.options.contentType === undefined ? {} : { ContentType: this.options.contentType }),
      ...conditionOf(before),
    });
    try {
      const { ETag = '' } = await this.client.send(command, this.#soon());
      return ETag;
    } catch (error) {
      // NoSuchKey: what was to be replaced is deleted. ConditionalRequestConflict: another write came first.
      if (isNamed(error, 'PreconditionFailed', 'ConditionalRequestConflict', 'NoSuchKey')) return null;
      throw this.#outOfReach(error);
    }
  }

  async delete(key: string): Promise<void> {
    await this.#reached(this.client.send(new DeleteObjectCommand(this.#at(key)), this.#soon()));
  }

  async list(prefix: string): Promise<readonly ListedObject[]> {
    const { bucket, prefix: root } = this.options;
    const objects: ListedObject[] = [];
    let from: string | undefined;
    do {
      const asked = {
        Bucket: bucket,
        Prefix: root + prefix,
        ...(from === undefined ? {} : { ContinuationToken: from }),
      };
      const page = await this.#reached(this.client.send(new ListObjectsV2Command(asked), this.#soon()));
      for (const { Key = '', Size: bytes = 0, LastModified } of page.Contents ?? [])
        objects.push({ key: Key.slice(root.length), bytes, storedAtMs: LastModified?.getTime() ?? 0 });
      from = page.NextContinuationToken;
    } while (from !== undefined);
    return objects;
  }

  async hasConditions(): Promise<boolean> {
    const key = `probe/${randomUUID()}`;
    const first = await this.put(key, Buffer.from('1'), 'nothing');
    try {
      if (first === null || (await this.put(key, Buffer.from('2'), 'nothing')) !== null) return false;
      if ((await this.put(key, Buffer.from('2'), { etag: '"0"' })) !== null) return false;
      return (await this.put(key, Buffer.from('2'), { etag: first })) !== null;
    } finally {
      await this.delete(key);
    }
  }

  #at(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.options.bucket, Key: this.options.prefix + key };
  }

  #soon(): { readonly abortSignal: AbortSignal } {
    return { abortSignal: AbortSignal.timeout(this.options.deadlineMs) };
  }

  async #reached<T>(asked: Promise<T>): Promise<T> {
    try {
      return await asked;
    } catch (error) {
      throw this.#outOfReach(error);
    }
  }

  #outOfReach(error: unknown): ApiError {
    if (error instanceof ApiError) return error;
    return ApiError.of('server_busy', this.options.outOfReach, { retryAfterSeconds: 1 });
  }
}

function conditionOf(before: Before): Pick<PutObjectCommandInput, 'IfMatch' | 'IfNoneMatch'> {
  if (before === 'anything') return {};
  return before === 'nothing' ? { IfNoneMatch: '*' } : { IfMatch: before.etag };
}

const isNamed = (error: unknown, ...names: readonly string[]): boolean =>
  error instanceof Error && names.includes(error.name);
const isMissing = (error: unknown): boolean => isNamed(error, 'NoSuchKey', 'NotFound');

function headOf({
  ContentLength: bytes = 0,
  LastModified,
}: Pick<HeadObjectCommandOutput, 'ContentLength' | 'LastModified'>): ObjectHead {
  return { bytes, storedAtMs: LastModified?.getTime() ?? 0 };
}
