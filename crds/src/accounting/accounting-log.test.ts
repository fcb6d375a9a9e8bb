import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AccountingLog, type AccountingOptions, type AppendFile } from './accounting-log.js';
import { accountingRecord } from './accounting-record.fixture.js';
import { formatRecord, parseRecord, type AccountingRecord } from './accounting-record.js';
import { spentToday } from './spent-today.js';

const now = Date.parse('2026-03-01T10:00:00Z');
const record = (id: string, changes: Partial<AccountingRecord> = {}): AccountingRecord => ({
  ...accountingRecord,
  id,
  ...changes,
});

/** Files that take a number of bytes until there is room again, and lose what is written. */
class Disk {
  readonly files: Buffer[] = [];
  room = Infinity;
  error: NodeJS.ErrnoException = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  /** At most so many at once. */
  most = Infinity;
  /** A sync fails, and keeps so many bytes of what it was to sync; null: it does not. */
  lost: number | null = null;
  /** Names of each file; 0: it was deleted. */
  nlink = 1;
  private readonly synced: number[] = [];

  readonly create = (): Promise<AppendFile> => {
    const index = this.files.push(Buffer.alloc(0)) - 1;
    return Promise.resolve({
      write: (bytes: Buffer) => {
        const bytesWritten = Math.min(bytes.length, this.room, this.most);
        if (bytesWritten === 0) return Promise.reject(this.error);
        this.room -= bytesWritten;
        this.files[index] = Buffer.concat([this.files[index]!, bytes.subarray(0, bytesWritten)]);
        return Promise.resolve({ bytesWritten });
      },
      datasync: () => {
        if (this.lost === null) {
          this.synced[index] = this.files[index]!.length;
          return Promise.resolve();
        }
        // As NFS: what was taken before is gone.
        this.files[index] = this.files[index]!.subarray(0, (this.synced[index] ?? 0) + this.lost);
        return Promise.reject(this.error);
      },
      truncate: (length: number) => {
        this.files[index] = this.files[index]!.subarray(0, length);
        return Promise.resolve();
      },
      close: () => Promise.resolve(),
      stat: () => Promise.resolve({ nlink: this.nlink }),
    });
  };

  /** Ids of the records that a reader finds. */
  get ids(): string[] {
    return this.files.flatMap((file) =>
      file
        .toString()
        .split('\n')
        .flatMap((line) => parseRecord(line)?.id ?? []),
    );
  }
}

const counts = { written: 0, lost: 0, failed: 0 };
let dir: string;
let log: AccountingLog;
/** What was logged. */
let said: [message: string, fields?: object][];
const logger = {
  info: (...each: [string, object?]) => said.push(each),
  warn: (...each: [string, object?]) => said.push(each),
  error: (...each: [string, object?]) => said.push(each),
};

function openLog(changes: Partial<AccountingOptions> = {}): AccountingLog {
  Object.assign(counts, { written: 0, lost: 0, failed: 0 });
  const options = { dir, writer: 'pod-0', fileBytes: 1e6, bufferBytes: 1e6, clock: () => now, ...changes };
  log = new AccountingLog(options, logger, {
    linesWritten: (count) => (counts.written += count),
    lineLost: () => (counts.lost += 1),
    writeFailed: () => (counts.failed += 1),
  });
  return log;
}

beforeEach(() => {
  said = [];
  dir = join(mkdtempSync(join(tmpdir(), 'llmservice-accounting-')), 'made');
});
afterEach(async () => {
  await log.close();
  rmSync(join(dir, '..'), { recursive: true });
});

const names = (): string[] => readdirSync(dir).sort();
const linesOf = (name: string): string[] => readFileSync(join(dir, name), 'utf8').trimEnd().split('\n');

describe('the accounting log', () => {
  test('is a line per record, and the next process begins a file of its own', async () => {
    openLog().add(record('one'));
    log.add(record('two', { key: null, finish: ['stop', 'length'] }));
    await log.close();
    expect(names()).toEqual(['pod-0-20260301T100000000Z-1.jsonl']);
    expect(linesOf(names()[0]!).map(parseRecord)).toEqual([
      record('one'),
      record('two', { key: null, finish: ['stop', 'length'] }),
    ]);
    openLog({ writer: 'pod-1' }).add(record('three'));
    await log.close();
    expect(names()).toHaveLength(2);
  });

  test('continues in another file when one has reached its size', async () => {
    openLog({ fileBytes: 300 });
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      log.add(record(id));
      await log.flush();
    }
    expect(names().map((name) => linesOf(name).map((line) => parseRecord(line)?.id))).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['e'],
    ]);
    expect(counts).toEqual({ written: 5, lost: 0, failed: 0 });
  });

  test.each([
    ['that was deleted', () => rmSync(join(dir, names()[0]!))],
    ['whose folder was deleted', () => rmSync(dir, { recursive: true })],
  ])('continues in a new file after one %s, and what was written counts', async (_, clean) => {
    openLog().add(record('a'));
    await log.flush();
    clean();
    for (const id of ['b', 'c']) {
      log.add(record(id));
      await log.flush();
    }
    expect(names()).toEqual(['pod-0-20260301T100000000Z-2.jsonl']);
    expect(linesOf(names()[0]!).map((line) => parseRecord(line)?.id)).toEqual(['b', 'c']);
    expect(counts).toEqual({ written: 3, lost: 0, failed: 0 });
  });

  test('continues in a file that was given another name', async () => {
    openLog().add(record('a'));
    await log.flush();
    renameSync(join(dir, names()[0]!), join(dir, 'renamed.jsonl'));
    log.add(record('b'));
    await log.flush();
    expect(names()).toEqual(['renamed.jsonl']);
    expect(linesOf('renamed.jsonl').map((line) => parseRecord(line)?.id)).toEqual(['a', 'b']);
  });

  test('that a full disk cut has the line whole when its file is deleted', async () => {
    const disk = new Disk();
    const length = formatRecord(record('a')).length;
    openLog({ create: disk.create });
    disk.room = Math.floor(1.5 * length);
    for (const id of ['a', 'b']) log.add(record(id));
    await log.flush();
    disk.room = Infinity;
    disk.nlink = 0;
    await log.flush();
    expect(disk.files[1]?.toString()).toBe(formatRecord(record('b')));
    expect(counts).toEqual({ written: 2, lost: 0, failed: 1 });
  });

  test('is written without anybody asking', async () => {
    openLog().add(record('one'));
    for (let i = 0; i < 2_000 && counts.written === 0; i++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(linesOf(names()[0]!)).toHaveLength(1);
  });

  test('on a full disk waits, loses only what the buffer has no room for, and then has every other line once', async () => {
    const disk = new Disk();
    const length = formatRecord(record('00')).length;
    openLog({ create: disk.create, bufferBytes: 10 * length });
    disk.room = Math.floor(2.5 * length);
    for (let i = 10; i < 25; i++) {
      log.add(record(String(i)));
      await log.flush();
    }
    expect(disk.ids).toEqual(['10', '11']);
    // Two were written, ten wait.
    expect([counts.written, counts.lost, counts.failed > 0]).toEqual([2, 3, true]);
    disk.room = Infinity;
    await log.flush();
    expect(disk.ids).toEqual(Array.from({ length: 12 }, (_, i) => String(i + 10)));
    expect(disk.files).toHaveLength(1);
    expect(counts.written).toBe(12);
  });

  test('that a file takes no more continues in a new one, the line that was cut as a whole', async () => {
    const disk = new Disk();
    const length = formatRecord(record('0')).length;
    openLog({ create: disk.create });
    disk.error = Object.assign(new Error('stale'), { code: 'ESTALE' });
    disk.room = Math.floor(1.5 * length);
    for (const id of ['a', 'b', 'c']) log.add(record(id));
    await log.flush();
    disk.room = Infinity;
    await log.flush();
    expect(disk.files).toHaveLength(2);
    expect(disk.ids).toEqual(['a', 'b', 'c']);
    expect(counts).toEqual({ written: 3, lost: 0, failed: 1 });
  });

  test('that a sync finds no room for is written again, each line once', async () => {
    const disk = new Disk();
    openLog({ create: disk.create });
    log.add(record('a'));
    await log.flush();
    disk.lost = 30;
    for (const id of ['b', 'c']) log.add(record(id));
    await log.flush();
    expect(counts).toEqual({ written: 1, lost: 0, failed: 1 });
    disk.lost = null;
    await log.flush();
    expect(disk.files).toHaveLength(1);
    expect(disk.ids).toEqual(['a', 'b', 'c']);
    expect(counts).toEqual({ written: 3, lost: 0, failed: 1 });
  });

  test('says what is lost with the process, and ends although the disk hangs', async () => {
    const disk = new Disk();
    disk.room = 0;
    openLog({ create: disk.create }).add(record('one'));
    const lost = 'lines of the accounting log are lost with the process';
    await log.close();
    expect(said).toContainEqual([lost, expect.anything()]);
    openLog({ create: () => new Promise(() => undefined) }).add(record('one'));
    said = [];
    await log.close();
    expect(said).toContainEqual([lost, expect.anything()]);
    log = openLog();
  });

  test('has one flush wait for a disk that hangs, however often it is asked for', async () => {
    openLog({ create: () => new Promise(() => undefined) }).add(record('one'));
    void log.flush();
    await new Promise(setImmediate);
    const waiting = log.flush();
    expect(log.flush()).toBe(waiting);
  });

  test('is whole when the disk takes it byte by byte', async () => {
    const disk = new Disk();
    disk.most = 7;
    openLog({ create: disk.create });
    for (const id of ['ä', 'b']) log.add(record(id));
    await log.flush();
    expect(disk.ids).toEqual(['ä', 'b']);
  });

  test('whose folder cannot be made harms nobody', async () => {
    writeFileSync(join(dir, '..', 'file'), '');
    openLog({ dir: join(dir, '..', 'file', 'below') }).add(record('one'));
    await log.flush();
    expect(counts).toEqual({ written: 0, lost: 0, failed: 1 });
  });
});

test.each(['', 'x', 'null', '{"id":"a"', '{"id":"a"}', '[]', '5'])('%j is no record', (line) => {
  expect(parseRecord(line)).toBeNull();
});

test('what was spent today is read from all logs, but for the line that a crash cut', async () => {
  openLog().add(record('one'));
  log.add(record('two', { key: 'b', completionTokens: 90 }));
  log.add(record('old', { time: '2026-02-28T23:59:59.999Z' }));
  log.add(record('free', { key: null }));
  await log.close();
  openLog({ writer: 'pod-1' }).add(record('three'));
  await log.close();
  appendFileSync(join(dir, names()[1]!), formatRecord(record('cut')).slice(0, 40));
  for (const name of names()) utimesSync(join(dir, name), now / 1000, now / 1000);
  expect(await spentToday(dir, now, logger)).toEqual(
    new Map([
      ['a', 30],
      ['b', 100],
    ]),
  );
  expect(await spentToday(dir, now + 86_400_000, logger)).toEqual(new Map());
});
