// The request log: a JSON line for each request, in objects of a bucket. Lines wait in memory until there are enough of
// them or the oldest has waited long enough. While S3 takes nothing they wait up to a bound; what comes on top is counted
// and lost. A batch that fails is sent again under its name, so that no line is there twice. No request waits for it.

import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { Logger } from '../log/logger.js';
import { LineBuffer, type LineEvents } from '@llmservice/crds/accounting';

export interface RequestLogOptions {
  readonly bucket: string;
  /** Empty, or ending in a slash. */
  readonly prefix: string;
  /** Part of the objects' names; no other process writes under it. */
  readonly writer: string;
  /** Longest that a line waits while S3 takes them. */
  readonly flushMs: number;
  /** An object that would be larger is two. */
  readonly objectBytes: number;
  /** Of lines that wait. */
  readonly bufferBytes: number;
  /** Time that the end takes at most. */
  readonly farewellMs: number;
  /** Unix time in milliseconds. */
  readonly clock: () => number;
}

interface Batch {
  readonly key: string;
  readonly body: Buffer;
}

export class S3RequestLog {
  readonly #options: RequestLogOptions;
  readonly #client: Pick<S3Client, 'send' | 'destroy'>;
  readonly #logger: Logger;
  readonly #events: LineEvents;
  readonly #buffer: LineBuffer;
  readonly #timer: NodeJS.Timeout;
  readonly #ending = new AbortController();
  /** On its way, or to be sent again. */
  #batch: Batch | null = null;
  #objects = 0;
  #failing = false;
  #flushing: Promise<void> | null = null;

  constructor(
    options: RequestLogOptions,
    client: Pick<S3Client, 'send' | 'destroy'>,
    logger: Logger,
    events: LineEvents,
  ) {
    this.#options = options;
    this.#client = client;
    this.#logger = logger;
    this.#events = events;
    this.#buffer = new LineBuffer(options.bufferBytes);
    this.#timer = setInterval(() => void this.flush(), options.flushMs);
    this.#timer.unref();
  }

  /** @throws RangeError for what is nested too deep to be written */
  add(line: object): void {
    if (!this.#buffer.add(`${JSON.stringify(line)}\n`)) this.#events.lineLost();
    else if (this.#buffer.bytes >= this.#options.objectBytes && !this.#failing) void this.flush();
  }

  /** Resolves when the lines that wait now are in the bucket, or S3 did not take them. */
  flush(): Promise<void> {
    this.#flushing ??= this.#write().finally(() => (this.#flushing = null));
    return this.#flushing;
  }

  /** Sends what waits, for a short while; what is left then is lost. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const timer = setTimeout(() => this.#ending.abort(), this.#options.farewellMs);
    // The one under way may have begun before the last lines came.
    await this.flush();
    await this.flush();
    clearTimeout(timer);
    const lost = this.#buffer.bytes;
    if (lost > 0) this.#logger.error('lines of the request log are lost with the process', { bytes: lost });
    this.#client.destroy();
  }

  async #write(): Promise<void> {
    const { bucket, objectBytes } = this.#options;
    // What comes meanwhile waits for its own time, or a busy server would write an object of a few lines after the other.
    let due = this.#buffer.bytes;
    while ((due > 0 || this.#buffer.bytes >= objectBytes) && !this.#ending.signal.aborted) {
      this.#batch ??= { key: this.#newKey(), body: this.#buffer.head(objectBytes) };
      const { key, body } = this.#batch;
      try {
        const put = { Bucket: bucket, Key: key, Body: body, ContentType: 'application/x-ndjson' };
        await this.#client.send(new PutObjectCommand(put), { abortSignal: this.#ending.signal });
      } catch (error) {
        this.#failed(error as Error);
        return;
      }
      this.#batch = null;
      due -= body.length;
      this.#events.linesWritten(this.#buffer.forget(body.length));
      if (this.#failing) this.#logger.info('the request log is written again');
      this.#failing = false;
    }
  }

  #failed({ name, message }: Error): void {
    this.#events.writeFailed();
    const { bucket, prefix } = this.#options;
    const cause = `${name}: ${message}`;
    if (!this.#failing) this.#logger.error('the request log cannot be written', { bucket, prefix, cause });
    this.#failing = true;
  }

  /** By hour, so that a day or an hour can be listed. */
  #newKey(): string {
    const { prefix, writer, clock } = this.#options;
    const time = new Date(clock()).toISOString();
    const hour = time.slice(0, 13).replaceAll(/[-T]/g, '/');
    this.#objects += 1;
    return `${prefix}${hour}/${writer}-${time.replaceAll(/[-:.]/g, '')}-${String(this.#objects)}.jsonl`;
  }
}
