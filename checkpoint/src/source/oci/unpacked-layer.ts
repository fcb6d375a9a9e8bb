// What a compressed layer holds, by bytes of its content. Nothing in it can be sought: a read begins where the last one
// ended, or at the start. All that passes is counted, since a small layer may expand without end.

import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { StoreHttpError } from '../http/http-client.js';
import { expanded, type Compression } from './expanded.js';

/** Weights hardly shrink: what grows by more than this is no checkpoint. */
const maxGrowth = 64;
const alwaysBytes = 64 * 1024 * 1024;

/** What the layers of one source have together. */
export class UnpackShare {
  /** The layer whose pass waits for its next read. */
  private waiting: UnpackedLayer | null = null;
  private readBytes = 0;

  /**
   * @param maxBytes of content, in all passes of all layers
   * @param onlyOne whether one pass alone may wait, since each keeps a window of up to 128 MiB and a connection
   */
  constructor(
    private readonly maxBytes: number,
    private readonly onlyOne: boolean,
  ) {}

  /** @throws StoreHttpError where that is too much */
  take(bytes: number): void {
    this.readBytes += bytes;
    if (this.readBytes > this.maxBytes)
      throw new StoreHttpError(
        'UnpackedTooLong',
        null,
        `more than ${String(this.maxBytes)} bytes of compressed layers would be read`,
      );
  }

  async waits(layer: UnpackedLayer): Promise<void> {
    const before = this.waiting;
    this.waiting = layer;
    if (this.onlyOne && before !== layer) await before?.close();
  }
}

export interface UnpackOptions {
  /** Of the layer as it is stored. */
  readonly bytes: number;
  readonly compression: Compression;
  /** The stored layer, from its start. */
  readonly download: () => Promise<Readable>;
  readonly share: UnpackShare;
  /** Called as bytes come, whether or not any are wanted. */
  readonly onBytes: () => void;
}

export class UnpackedLayer {
  /** Where the last read ended. */
  private idle: Pass | null = null;

  constructor(private readonly options: UnpackOptions) {}

  /**
   * Bytes [begin, end) of the content; none where it ends at `begin`.
   * @throws StoreHttpError where it ends elsewhere before, or expands too far
   */
  async *read(begin: number, end: number): AsyncGenerator<Buffer> {
    const pass = await this.passTo(begin);
    let isThere = false;
    try {
      while (pass.at < end) {
        const chunk = await pass.next(end);
        if (chunk === null && pass.at === begin) break;
        if (chunk === null)
          throw new StoreHttpError('BrokenArchive', null, 'a layer that is to be an archive is cut short');
        const skipped = Math.max(0, begin - (pass.at - chunk.length));
        if (skipped < chunk.length) yield chunk.subarray(skipped);
      }
      isThere = true;
    } finally {
      if (isThere) await this.keep(pass);
      else await pass.close();
    }
  }

  /** Goes to where the next read begins: who waits for data of that waits for no more. */
  async seek(begin: number): Promise<void> {
    const pass = await this.passTo(begin);
    let isThere = false;
    try {
      while (pass.at < begin && (await pass.next(begin)) !== null);
      isThere = true;
    } finally {
      if (isThere) await this.keep(pass);
      else await pass.close();
    }
  }

  /** Reads what is left. @returns the digest of the layer as it is stored */
  async finish(): Promise<string> {
    const pass = await this.passTo(0, true);
    try {
      while ((await pass.next(Infinity)) !== null);
      return pass.digest();
    } finally {
      await pass.close();
    }
  }

  async close(): Promise<void> {
    const { idle } = this;
    this.idle = null;
    await idle?.close();
  }

  private async passTo(begin: number, anywhere = false): Promise<Pass> {
    const { idle } = this;
    this.idle = null;
    if (idle !== null && (anywhere || idle.at <= begin)) return idle;
    await idle?.close();
    return Pass.begin(this.options);
  }

  private async keep(pass: Pass): Promise<void> {
    await this.idle?.close();
    this.idle = pass;
    await this.options.share.waits(this);
  }
}

/** One way through a layer. */
class Pass {
  /** Of the content, in bytes. */
  at = 0;
  private rest: Buffer | null = null;

  private constructor(
    private readonly body: Readable,
    private readonly chunks: AsyncGenerator<Buffer>,
    private readonly hash: Hash,
    private readonly options: UnpackOptions,
  ) {}

  static async begin(options: UnpackOptions): Promise<Pass> {
    const hash = createHash('sha256');
    const body = await options.download();
    // Its error is its reader's, who may not have begun or may be gone.
    body.on('error', () => undefined);
    async function* seen(): AsyncGenerator<Buffer> {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        hash.update(chunk);
        options.onBytes();
        yield chunk;
      }
    }
    const stored = Readable.from(seen(), { objectMode: false });
    return new Pass(body, expanded(stored, options.compression), hash, options);
  }

  /** What comes next, up to `end`; null: nothing. */
  async next(end: number): Promise<Buffer | null> {
    const chunk = this.rest ?? (await this.pull());
    if (chunk === null) return null;
    const taken = chunk.subarray(0, Math.min(chunk.length, end - this.at));
    this.rest = taken.length < chunk.length ? chunk.subarray(taken.length) : null;
    this.at += taken.length;
    this.options.share.take(taken.length);
    this.check();
    return taken;
  }

  /** Once there is nothing more. */
  digest(): string {
    return `sha256:${this.hash.digest('hex')}`;
  }

  async close(): Promise<void> {
    await this.chunks.return(undefined);
    // Of a generator that has not begun nothing runs, not even what would end the download.
    this.body.destroy();
  }

  private async pull(): Promise<Buffer | null> {
    for (;;) {
      const next = await this.chunks.next();
      if (next.done === true) return null;
      if (next.value.length > 0) return next.value;
    }
  }

  private check(): void {
    const { bytes } = this.options;
    if (this.at > alwaysBytes + maxGrowth * bytes)
      throw new StoreHttpError(
        'ExpandsTooFar',
        null,
        `a layer expands to more than ${String(maxGrowth)} times its size`,
      );
  }
}
