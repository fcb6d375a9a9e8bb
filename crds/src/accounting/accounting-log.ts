// The durable log of finished requests: JSON lines in files of its own, one after the other. Lines wait in memory for
// less than half a second, then they are written and synced to the disk, and only then forgotten; a crash costs those,
// and may leave half a line at the end of a file. While the disk takes nothing they wait, up to a bound; what comes on
// top is counted and lost. Nothing here ever fails or delays a request.

import { mkdir, open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { AccountingLogger } from './accounting-logger.js';
import { formatRecord, type AccountingRecord, type GatewayRecord } from './accounting-record.js';
import { LineBuffer, type LineEvents } from './line-buffer.js';

const flushMs = 250;
/** Time that the end takes at most: a disk that hangs must not keep the process. */
const farewellMs = 2_000;
const processBufferBytes = 4 * 2 ** 20;

/** What the log needs of a file. */
export interface AppendFile {
  /** May write less than it was given. */
  write(bytes: Buffer): Promise<{ readonly bytesWritten: number }>;
  datasync(): Promise<void>;
  truncate(bytes: number): Promise<void>;
  /** `nlink`: how many names it has; 0: it was deleted. */
  stat(): Promise<{ readonly nlink: number }>;
  close(): Promise<void>;
}

interface OpenFile {
  readonly handle: AppendFile;
  /** Those that are synced. */
  bytes: number;
}

export interface AccountingOptions {
  /** Made where it is not there. */
  readonly dir: string;
  /** Part of the files' names; no other process writes under it. */
  readonly writer: string;
  /** A file that has reached it is the last one's end. */
  readonly fileBytes: number;
  /** Of lines that wait. */
  readonly bufferBytes: number;
  /** Unix time in milliseconds. */
  readonly clock: () => number;
  /** Creates a file that is not there yet. */
  readonly create?: (path: string) => Promise<AppendFile>;
}

export class AccountingLog {
  readonly #options: AccountingOptions;
  readonly #logger: AccountingLogger;
  readonly #events: LineEvents;
  readonly #timer: NodeJS.Timeout;
  readonly #buffer: LineBuffer;
  #file: OpenFile | null = null;
  #files = 0;
  #failing = false;
  #flushing: Promise<void> = Promise.resolve();
  /** Waits for the one under way; null: none does. */
  #next: Promise<void> | null = null;

  /** That of this process, the only one that writes under its name. */
  static ofProcess(
    options: Pick<AccountingOptions, 'dir' | 'fileBytes' | 'clock'>,
    logger: AccountingLogger,
    events: LineEvents,
  ): AccountingLog {
    const writer = `${hostname()}-${String(process.pid)}`;
    return new AccountingLog({ ...options, writer, bufferBytes: processBufferBytes }, logger, events);
  }

  constructor(options: AccountingOptions, logger: AccountingLogger, events: LineEvents) {
    this.#options = options;
    this.#logger = logger;
    this.#events = events;
    this.#buffer = new LineBuffer(options.bufferBytes);
    this.#timer = setInterval(() => {
      if (this.#buffer.bytes > 0) void this.flush();
    }, flushMs);
    this.#timer.unref();
  }

  add(record: AccountingRecord | GatewayRecord): void {
    if (!this.#buffer.add(formatRecord(record))) this.#events.lineLost();
  }

  /** Resolves when all that was added before is on the disk, or could not be written. */
  flush(): Promise<void> {
    this.#next ??= this.#flushing.then(() => {
      this.#next = null;
      this.#flushing = this.#write();
      return this.#flushing;
    });
    return this.#next;
  }

  /** Writes what waits, for a short while; what is left then is lost. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, farewellMs)));
    await Promise.race([this.flush().then(() => this.#endFile()), late]);
    clearTimeout(timer);
    const bytes = this.#buffer.bytes;
    if (bytes === 0) return;
    this.#logger.error('lines of the accounting log are lost with the process', {
      dir: this.#options.dir,
      bytes,
    });
  }

  async #write(): Promise<void> {
    if (this.#buffer.bytes === 0) return;
    try {
      await this.#leaveDeleted();
      this.#file ??= { handle: await this.#create(), bytes: 0 };
      const file = this.#file;
      let written = 0;
      try {
        for (let rest = this.#buffer.head(); rest.length > 0;) {
          const { bytesWritten } = await file.handle.write(rest);
          rest = rest.subarray(bytesWritten);
          written += bytesWritten;
        }
      } finally {
        if (written > 0) await this.#sync(file, written);
      }
      if (this.#failing) this.#logger.info('the accounting log is written again');
      this.#failing = false;
      if (file.bytes >= this.#options.fileBytes) await this.#endFile();
    } catch (error) {
      await this.#failed(error as NodeJS.ErrnoException);
    }
  }

  /** Who cleans up deletes the open file too: it would take lines that nobody can read any more. */
  async #leaveDeleted(): Promise<void> {
    if (this.#file === null || (await this.#file.handle.stat()).nlink > 0) return;
    this.#logger.warn('the accounting log was deleted and continues in a new file', {
      dir: this.#options.dir,
    });
    await this.#endFile();
  }

  /** Files over a network may report only now that they had no room, and keep some of it: it is written again. */
  async #sync(file: OpenFile, written: number): Promise<void> {
    try {
      await file.handle.datasync();
    } catch (error) {
      await file.handle.truncate(file.bytes).catch(() => this.#endFile());
      throw error;
    }
    file.bytes += written;
    const lines = this.#buffer.forget(written);
    if (lines > 0) this.#events.linesWritten(lines);
  }

  async #failed({ code = '', message }: NodeJS.ErrnoException): Promise<void> {
    this.#events.writeFailed();
    if (!this.#failing)
      this.#logger.error('the accounting log cannot be written', {
        dir: this.#options.dir,
        code,
        cause: message,
      });
    this.#failing = true;
    // A full disk takes the rest when there is room again. Any other file may be lost: its lines continue in a new one.
    if (code !== 'ENOSPC' && code !== 'EDQUOT') await this.#endFile();
  }

  async #endFile(): Promise<void> {
    const handle = this.#file?.handle;
    this.#file = null;
    this.#buffer.restartLine();
    await handle?.close().catch(() => undefined);
  }

  async #create(): Promise<AppendFile> {
    const { dir, writer, clock, create = createFile } = this.#options;
    await mkdir(dir, { recursive: true });
    const opened = new Date(clock()).toISOString().replaceAll(/[-:.]/g, '');
    this.#files += 1;
    return create(join(dir, `${writer}-${opened}-${String(this.#files)}.jsonl`));
  }
}

function createFile(path: string): Promise<AppendFile> {
  return open(path, 'ax', 0o640);
}
