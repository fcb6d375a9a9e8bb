// A checkpoint in S3: one prefix, listed, and read by ranges that are pinned to one ETag.

import {
  GetObjectCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
  type GetObjectCommandOutput,
  type HeadObjectCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { isTimeVersion, objectVersion, type ListedFile } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import type { Readable } from 'node:stream';
import {
  SourceChangedError,
  UnavailableError,
  WrongRangeError,
  type CheckpointSource,
  type FileVersion,
} from './checkpoint-source.js';
import { classifyS3Error } from './s3-errors.js';

/** A connection that delivers nothing for so long is given up, and the range is asked for again. */
const idleTimeoutMs = 30_000;

export class S3Source implements CheckpointSource {
  readonly uri: string;
  private readonly prefix: string;

  /** @param prefix with or without a slash at its end; empty for the bucket's root */
  constructor(
    private readonly client: S3Client,
    private readonly bucket: string,
    prefix: string,
  ) {
    this.prefix = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
    this.uri = `s3://${bucket}/${this.prefix}`;
  }

  async list(): Promise<ListedFile[]> {
    const files: ListedFile[] = [];
    const request = { Bucket: this.bucket, Prefix: this.prefix, Delimiter: '/' };
    try {
      for await (const page of paginateListObjectsV2({ client: this.client }, request)) {
        for (const object of page.Contents ?? []) {
          const { Key: key = '', Size: bytes = 0 } = object;
          const name = key.slice(this.prefix.length);
          if (name !== '') files.push({ name, bytes, version: objectVersion(object) });
        }
      }
    } catch (error) {
      const classified = classifyS3Error(error, `list ${this.uri}`);
      // A list names no object: what is not found is the bucket, by whatever word.
      throw classified instanceof SourceChangedError
        ? new FailureError('BucketNotFound', classified.message)
        : classified;
    }
    return files;
  }

  async version(name: string): Promise<FileVersion> {
    try {
      const head = await this.client.send(
        new HeadObjectCommand({ Bucket: this.bucket, Key: this.prefix + name, ChecksumMode: 'ENABLED' }),
      );
      return { name, bytes: head.ContentLength ?? 0, etag: objectVersion(head), digest: digestOf(head) };
    } catch (error) {
      throw classifyS3Error(error, `head ${this.uri}${name}`);
    }
  }

  async *read(file: FileVersion, begin: number, end: number): AsyncGenerator<Uint8Array> {
    if (begin === end) return;
    const what = `read ${this.uri}${file.name} bytes ${String(begin)}-${String(end - 1)}`;
    let idle: NodeJS.Timeout | undefined;
    let body: Readable | undefined;
    let received = 0;
    try {
      const answer = await this.client.send(
        new GetObjectCommand({
          Bucket: this.bucket,
          Key: this.prefix + file.name,
          Range: `bytes=${String(begin)}-${String(end - 1)}`,
          // A time cannot be asked for exactly: the server may keep finer ones than it reports.
          ...(file.etag === null || isTimeVersion(file.etag) ? {} : { IfMatch: file.etag }),
        }),
      );
      body = answer.Body as Readable;
      if (objectVersion(answer) !== file.etag)
        throw new SourceChangedError(`${what}: the object was replaced`);
      if (!isRange(answer, file, begin, end)) throw new WrongRangeError(`${what}: ${described(answer)}`);
      const stream = body;
      idle = setTimeout(() => stream.destroy(new Error('no data for 30 s')), idleTimeoutMs);
      for await (const chunk of stream as AsyncIterable<Uint8Array>) {
        idle.refresh();
        received += chunk.byteLength;
        if (received > end - begin) throw new WrongRangeError(`${what}: the server sent more bytes`);
        yield chunk;
      }
    } catch (error) {
      throw classifyS3Error(error, what);
    } finally {
      clearTimeout(idle);
      body?.destroy();
    }
    if (received !== end - begin) {
      throw new UnavailableError(`${what}: the connection ended after ${String(received)} bytes`);
    }
  }
}

/** An answer that names no range is the whole file, whatever was asked for. */
function isRange(
  { $metadata, ContentRange: range }: GetObjectCommandOutput,
  file: FileVersion,
  begin: number,
  end: number,
): boolean {
  if (range === undefined) return begin === 0 && end === file.bytes;
  return $metadata.httpStatusCode === 206 && range.startsWith(`bytes ${String(begin)}-${String(end - 1)}/`);
}

function described({ $metadata, ContentRange: range }: GetObjectCommandOutput): string {
  const status = `HTTP ${String($metadata.httpStatusCode)}`;
  return `the server answered with ${status} and ${range === undefined ? 'no Content-Range' : `Content-Range: ${range}`}`;
}

/** A SHA-256 of the whole object if S3 keeps one; else the ETag where it is an MD5 (one part, no KMS). */
function digestOf(head: HeadObjectCommandOutput): FileVersion['digest'] {
  if (
    head.ChecksumSHA256 !== undefined &&
    head.ChecksumType !== 'COMPOSITE' &&
    !head.ChecksumSHA256.includes('-')
  ) {
    return { algorithm: 'sha256', hex: Buffer.from(head.ChecksumSHA256, 'base64').toString('hex') };
  }
  const md5 = /^"?([0-9a-f]{32})"?$/.exec(head.ETag ?? '')?.[1];
  const encrypted = head.ServerSideEncryption !== undefined && head.ServerSideEncryption !== 'AES256';
  if (md5 === undefined || encrypted || head.SSECustomerAlgorithm !== undefined) return null;
  return { algorithm: 'md5', hex: md5 };
}
