// One prefix of a bucket as a folder of files. The client, with its credentials and time limits, is its user's.

import {
  GetObjectCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
  type HeadObjectCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Readable } from 'node:stream';
import type { ByteSource, FileVersion, OpenRange } from '../byte-source.js';
import { readRangeAnswer } from '../range-answer.js';
import { isTimeVersion, objectVersion, type ListedFile } from '../checkpoint-pin.js';
import { isNestedFile, nestedFilesOf, pathOf } from '../../config/nested-files.js';

interface S3Bounds {
  /** Of Google Cloud Storage: gs:// in messages, and what it says of hashes. */
  readonly google?: boolean;
  /** Files of one page of a listing; the server's own number by default. */
  readonly pageFiles?: number;
  /** Later pages are left out. */
  readonly maxPages?: number;
  /** Ends requests; a body that has begun is its reader's to end. */
  readonly signal?: AbortSignal;
}

export class S3ByteSource implements ByteSource {
  readonly kind = 's3';
  readonly uri: string;
  private readonly prefix: string;
  private readonly options: { readonly abortSignal?: AbortSignal };

  /** @param prefix with or without a slash at its end; empty for the bucket's root */
  constructor(
    private readonly client: S3Client,
    private readonly bucket: string,
    prefix: string,
    private readonly bounds: S3Bounds = {},
  ) {
    this.prefix = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
    this.uri = `${bounds.google === true ? 'gs' : 's3'}://${bucket}/${this.prefix}`;
    this.options = bounds.signal === undefined ? {} : { abortSignal: bounds.signal };
  }

  async list(): Promise<ListedFile[]> {
    const { pageFiles, maxPages = Infinity } = this.bounds;
    const request = { Bucket: this.bucket, Prefix: this.prefix, Delimiter: '/' };
    const config = { client: this.client, ...(pageFiles === undefined ? {} : { pageSize: pageFiles }) };
    const files: ListedFile[] = [];
    let pages = 0;
    const listing = paginateListObjectsV2(config, request, this.options);
    for await (const { Contents: contents = [], CommonPrefixes: below = [] } of listing) {
      for (const object of contents) {
        const { Key: key = '', Size: bytes = 0 } = object;
        const name = key.slice(this.prefix.length);
        if (name !== '' && !isNestedFile(name)) files.push({ name, bytes, version: objectVersion(object) });
      }
      for (const { Prefix: folder = '' } of below) {
        const nested = nestedFilesOf(folder.slice(this.prefix.length, -1));
        for (const name of nested) files.push(...(await this.listed(name)));
      }
      pages += 1;
      if (pages >= maxPages) break;
    }
    return files;
  }

  /** Empty where the folder does not hold it. */
  private async listed(name: string): Promise<ListedFile[]> {
    try {
      const { bytes, etag } = await this.version(name);
      return [{ name, bytes, version: etag }];
    } catch (error) {
      if ((error as { readonly name?: string }).name === 'NotFound') return [];
      throw error;
    }
  }

  async version(name: string): Promise<FileVersion> {
    if (this.bounds.google === true) return this.googleVersion(name);
    const request = { ...this.object(name), ChecksumMode: 'ENABLED' as const };
    const head = await this.client.send(new HeadObjectCommand(request), this.options);
    return { name, bytes: head.ContentLength ?? 0, etag: objectVersion(head), digest: digestOf(head) };
  }

  private async googleVersion(name: string): Promise<FileVersion> {
    const command = new HeadObjectCommand(this.object(name));
    let hashes = '';
    command.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        hashes = hashesIn(result.response);
        return result;
      },
      { step: 'deserialize', priority: 'low' },
    );
    const head = await this.client.send(command, this.options);
    return { name, bytes: head.ContentLength ?? 0, etag: objectVersion(head), digest: googleDigest(hashes) };
  }

  async open(name: string, begin: number, end: number, etag: string | null): Promise<OpenRange> {
    const answer = await this.client.send(
      new GetObjectCommand({
        ...this.object(name),
        Range: `bytes=${String(begin)}-${String(end - 1)}`,
        // A time cannot be asked for exactly: the server may keep finer ones than it reports.
        ...(etag === null || isTimeVersion(etag) ? {} : { IfMatch: etag }),
      }),
      this.options,
    );
    const body = answer.Body as Readable;
    const { $metadata, ContentRange, ContentLength } = answer;
    const range = readRangeAnswer($metadata.httpStatusCode, ContentRange, ContentLength);
    return { ...range, etag: objectVersion(answer), body };
  }

  private object(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.bucket, Key: this.prefix + pathOf(name) };
  }
}

/** The header of an answer in which Google Cloud Storage names hashes of the whole object. */
function hashesIn(response: unknown): string {
  const { headers } = response as { readonly headers?: Readonly<Partial<Record<string, string>>> };
  return headers?.['x-goog-hash'] ?? '';
}

/** Of what was composed of parts it has a CRC32C alone, and an ETag that is no hash. */
function googleDigest(hashes: string): FileVersion['digest'] {
  const [, md5] = /(?:^|[,\s])md5=([A-Za-z0-9+/]{22}==)/.exec(hashes) ?? [];
  return md5 === undefined ? null : { algorithm: 'md5', hex: Buffer.from(md5, 'base64').toString('hex') };
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
