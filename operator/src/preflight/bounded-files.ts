// The files of a checkpoint as preflights read them: a tenant chooses what answers, so that no more than was asked for is
// taken, whatever is sent.

import { addAbortSignal, type Readable } from 'node:stream';
import { isTimeVersion, type ByteSource, type ListedFile } from '@llmservice/checkpoint';
import { FailureError, stores } from '@llmservice/crds';
import type { CheckpointFiles, FileRange } from './read-safetensors.js';
import { isAbsent, mayBeAbsent, toFailure } from './store-errors.js';

export class BoundedFiles implements CheckpointFiles {
  /** @param signal ends what is being read */
  constructor(
    private readonly source: ByteSource,
    private readonly signal: AbortSignal,
  ) {}

  async read(file: string, maxBytes: number, beginAt = 0): Promise<FileRange | null> {
    try {
      const range = await this.source.open(file, beginAt, beginAt + maxBytes, null);
      if (range.begin !== beginAt) {
        range.body.destroy();
        throw new FailureError(
          stores[this.source.kind].withoutRanges,
          `asked for bytes from ${beginAt} on, the endpoint gave those from ${range.begin} on`,
        );
      }
      const bytes = await firstBytes(addAbortSignal(this.signal, range.body), maxBytes);
      const etag = range.etag === null || isTimeVersion(range.etag) ? '' : range.etag;
      return { bytes, fileBytes: range.fileBytes ?? bytes.byteLength, etag };
    } catch (error) {
      if (isAbsent(this.source.kind, error)) return null;
      // An empty object has no range to give.
      if (isEmptyRange(error)) {
        return { bytes: new Uint8Array(), fileBytes: 0, etag: '' };
      }
      throw toFailure(this.source.kind, error, this.source.uri, file);
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
    try {
      return await this.source.list();
    } catch (error) {
      throw toFailure(this.source.kind, error, this.source.uri, '');
    }
  }
}

function isEmptyRange(error: unknown): boolean {
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  return name === 'InvalidRange' || $metadata?.httpStatusCode === 416;
}

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
