// A checkpoint that has to be fetched: listed, and read by ranges that are pinned to one ETag. What an answer may be, and
// when a read is given up, is decided here for every kind of place. Reads stream, since a pull writes each chunk as it comes.

import type { ByteSource, FileVersion, ListedFile } from '@llmservice/checkpoint';
import { FailureError, stores } from '@llmservice/crds';
import type { Readable } from 'node:stream';
import {
  SourceChangedError,
  UnavailableError,
  WrongRangeError,
  type CheckpointSource,
} from './checkpoint-source.js';
import { classifyStoreError } from './store-errors.js';

/** A connection that delivers nothing for so long is given up, and the range is asked for again. */
const idleTimeoutMs = 30_000;

export class RemoteSource implements CheckpointSource {
  readonly uri: string;

  constructor(private readonly bytes: ByteSource) {
    this.uri = bytes.uri;
  }

  async list(): Promise<ListedFile[]> {
    try {
      return await this.bytes.list();
    } catch (error) {
      const classified = this.classify(error, `list ${this.uri}`);
      // A list names no object: what is not found is the place, by whatever word.
      throw classified instanceof SourceChangedError
        ? new FailureError(stores[this.bytes.kind].absent, classified.message)
        : classified;
    }
  }

  async version(name: string): Promise<FileVersion> {
    try {
      return await this.bytes.version(name);
    } catch (error) {
      throw this.classify(error, `head ${this.uri}${name}`);
    }
  }

  async *read(file: FileVersion, begin: number, end: number): AsyncGenerator<Uint8Array> {
    if (begin === end) return;
    const what = `read ${this.uri}${file.name} bytes ${String(begin)}-${String(end - 1)}`;
    let idle: NodeJS.Timeout | undefined;
    let body: Readable | undefined;
    let received = 0;
    try {
      const range = await this.bytes.open(file.name, begin, end, file.etag);
      body = range.body;
      if (range.etag !== file.etag) throw new SourceChangedError(`${what}: the object was replaced`);
      if (range.begin !== begin || (range.end ?? file.bytes) !== end)
        throw new WrongRangeError(this.bytes.kind, `${what}: the server answered with ${range.answer}`);
      const stream = body;
      idle = setTimeout(() => stream.destroy(new Error('no data for 30 s')), idleTimeoutMs);
      for await (const chunk of stream as AsyncIterable<Uint8Array>) {
        idle.refresh();
        received += chunk.byteLength;
        if (received > end - begin)
          throw new WrongRangeError(this.bytes.kind, `${what}: the server sent more bytes`);
        yield chunk;
      }
    } catch (error) {
      throw this.classify(error, what);
    } finally {
      clearTimeout(idle);
      body?.destroy();
    }
    if (received !== end - begin) {
      throw new UnavailableError(
        this.bytes.kind,
        `${what}: the connection ended after ${String(received)} bytes`,
      );
    }
  }

  private classify(error: unknown, what: string): ReturnType<typeof classifyStoreError> {
    return classifyStoreError(this.bytes.kind, error, what);
  }
}
