// Ranges of a checkpoint's files from S3, with the service's own credentials. One instance for one preflight.

import http from 'node:http';
import https from 'node:https';
import { addAbortSignal, type Readable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import {
  GetObjectCommand,
  ListObjectsV2Command,
  S3Client,
  type GetObjectCommandOutput,
} from '@aws-sdk/client-s3';
import { objectVersion, type ListedFile } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import type { CheckpointLocation } from '../domain/wanted-service.js';
import type { S3Access } from '../resource/s3-access.js';
import type { Lookup } from './address-guard.js';
import { boundAnswers, pageFiles } from './bound-answers.js';
import type { CheckpointFiles, FileRange } from './read-safetensors.js';
import { isAbsent, mayBeAbsent, toFailure } from './s3-errors.js';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** By what the bucket is reached, in addition to where it is. */
export interface Connection {
  /** Null: requests are not signed. */
  readonly credentials: S3Credentials | null;
  /** In PEM, in addition to those that everybody trusts. */
  readonly certificates: string | null;
  readonly lookup: Lookup;
}

/** A folder with more than 10,000 files is no checkpoint's. */
const maxPages = 40;

export class S3Files implements CheckpointFiles {
  private readonly client: S3Client;
  private readonly closing = new AbortController();

  constructor(
    access: S3Access,
    { credentials, certificates, lookup }: Connection,
    private readonly location: CheckpointLocation,
  ) {
    // A connection is made to an address that this look-up gave, and to no other.
    const agentOptions = { keepAlive: true, lookup };
    this.client = new S3Client({
      ...(access.endpoint === null ? {} : { endpoint: access.endpoint }),
      region: access.region,
      forcePathStyle: access.forcePathStyle,
      // Without credentials of the service requests go unsigned: the SDK's search for ambient ones must never start.
      ...(credentials === null
        ? {
            credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
            signer: { sign: (request) => Promise.resolve(request) },
          }
        : { credentials }),
      maxAttempts: 2,
      requestHandler: {
        connectionTimeout: 4_000,
        // Without the third the second is but a warning in the log.
        requestTimeout: 10_000,
        throwOnRequestTimeout: true,
        socketTimeout: 10_000,
        httpAgent: new http.Agent(agentOptions),
        httpsAgent: new https.Agent({
          ...agentOptions,
          ...(certificates === null ? {} : { ca: [...rootCertificates, certificates] }),
        }),
      },
    });
    boundAnswers(this.client);
  }

  async read(file: string, maxBytes: number, beginAt = 0): Promise<FileRange | null> {
    try {
      const response = await this.client.send(
        new GetObjectCommand({
          Bucket: this.location.bucket,
          Key: this.location.prefix + file,
          Range: `bytes=${beginAt}-${beginAt + maxBytes - 1}`,
        }),
        { abortSignal: this.closing.signal },
      );
      const range = rangeOf(response);
      if (range.beginAt !== beginAt) {
        throw new FailureError(
          'S3Unavailable',
          `asked for bytes from ${beginAt} on, the endpoint gave those from ${range.beginAt} on`,
        );
      }
      const body = addAbortSignal(this.closing.signal, response.Body as Readable);
      const bytes = await firstBytes(body, maxBytes);
      return { bytes, fileBytes: range.fileBytes ?? bytes.byteLength, etag: response.ETag ?? '' };
    } catch (error) {
      if (isAbsent(error)) return null;
      // An empty object has no range to give.
      if ((error as { name?: string }).name === 'InvalidRange') {
        return { bytes: new Uint8Array(), fileBytes: 0, etag: '' };
      }
      throw toFailure(error, this.location, file);
    }
  }

  async readOptional(file: string, maxBytes: number): Promise<FileRange | null> {
    try {
      return await this.read(file, maxBytes);
    } catch (error) {
      if (error instanceof FailureError && mayBeAbsent(error.cause)) return null;
      throw error;
    }
  }

  async list(): Promise<readonly ListedFile[]> {
    const { bucket, prefix } = this.location;
    const files: ListedFile[] = [];
    try {
      let token: string | undefined;
      for (let page = 0; page < maxPages && (page === 0 || token !== undefined); page += 1) {
        const asked = {
          Bucket: bucket,
          Prefix: prefix,
          Delimiter: '/',
          ContinuationToken: token,
          MaxKeys: pageFiles,
        };
        const { Contents: contents = [], NextContinuationToken: next } = await this.client.send(
          new ListObjectsV2Command(asked),
          { abortSignal: this.closing.signal },
        );
        token = next;
        for (const object of contents) {
          const name = (object.Key ?? '').slice(prefix.length);
          if (name !== '') files.push({ name, bytes: object.Size ?? 0, version: objectVersion(object) });
        }
      }
    } catch (error) {
      throw toFailure(error, this.location, '');
    }
    return files;
  }

  /** Ends what is being read. */
  close(): void {
    this.closing.abort();
    this.client.destroy();
  }
}

/** Which bytes an answer holds: an endpoint may give the whole file in place of a range. */
function rangeOf(response: GetObjectCommandOutput): { beginAt: number; fileBytes: number | undefined } {
  const [, begin, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.ContentRange ?? '') ?? [];
  if (begin === undefined) return { beginAt: 0, fileBytes: response.ContentLength };
  return { beginAt: Number(begin), fileBytes: Number(total) };
}

/** No more than was asked for is taken, whatever is sent. */
async function firstBytes(body: Readable, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let count = 0;
  // Leaving the loop ends the body and with it the connection, which what came whole leaves to the next read.
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    count += chunk.byteLength;
    if (count > maxBytes) break;
  }
  return Buffer.concat(chunks, Math.min(count, maxBytes));
}
