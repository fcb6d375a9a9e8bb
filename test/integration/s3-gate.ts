// Stands between a pull and its S3 server: notes what is read and in which order, and holds back or changes answers.

import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { Transform } from 'node:stream';

/** One read of a range [begin, end) of a file. */
export interface S3Read {
  readonly file: string;
  readonly begin: number;
  readonly end: number;
}

export class S3Gate {
  /** In the order in which they were asked for; a repeated one is there twice. */
  readonly reads: S3Read[] = [];
  /** SHA-256 that is reported for a file, in hexadecimal; the server itself keeps none. */
  readonly digests = new Map<string, string>();
  /** Reads that wait for `release`. */
  holds: (read: S3Read) => boolean = () => false;
  /** Reads whose first byte is changed. */
  breaks: (read: S3Read) => boolean = () => false;
  private waiting: (() => void)[] = [];

  private constructor(
    private readonly server: Server,
    private readonly target: string,
  ) {}

  static async start(target: string): Promise<S3Gate> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const gate = new S3Gate(server, target);
    server.on('request', (asked, answer) => void gate.pass(asked, answer));
    return gate;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`;
  }

  /** How many reads are held back now. */
  get held(): number {
    return this.waiting.length;
  }

  release(): void {
    this.holds = () => false;
    for (const go of this.waiting.splice(0)) go();
  }

  stop(): void {
    this.release();
    this.server.closeAllConnections();
    this.server.close();
  }

  private async pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const read = readOf(asked);
    if (read !== null) {
      this.reads.push(read);
      if (this.holds(read)) await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    // With its headers as they are: they are signed.
    const onward = request(`${this.target}${asked.url ?? ''}`, {
      method: asked.method,
      headers: asked.headers,
    });
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    onward.on('response', (answered) => {
      const digest = this.digests.get(fileOf(asked));
      const checksum =
        digest === undefined
          ? {}
          : { 'x-amz-checksum-sha256': Buffer.from(digest, 'hex').toString('base64') };
      answer.writeHead(answered.statusCode ?? 502, { ...answered.headers, ...checksum });
      const breaks = read !== null && this.breaks(read);
      (breaks ? answered.pipe(firstByteChanged()) : answered).pipe(answer);
    });
    asked.pipe(onward);
  }
}

function fileOf({ url = '' }: IncomingMessage): string {
  return basename(new URL(url, 'http://s3').pathname);
}

function readOf(asked: IncomingMessage): S3Read | null {
  const [, begin, last] = /^bytes=(\d+)-(\d+)$/.exec(asked.headers.range ?? '') ?? [];
  if (asked.method !== 'GET' || begin === undefined) return null;
  return { file: fileOf(asked), begin: Number(begin), end: Number(last) + 1 };
}

function firstByteChanged(): Transform {
  let changed = false;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (!changed && chunk.length > 0) chunk[0] = chunk[0]! ^ 1;
      changed = true;
      done(null, chunk);
    },
  });
}
