import { afterEach, expect, test } from '@jest/globals';
import type { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeLogger } from '../log/logger.js';
import { S3RequestLog, type RequestLogOptions } from './s3-request-log.js';

type Put = (key: string, body: string, signal: AbortSignal) => Promise<void>;

/** Objects by name, of a store that may be made to do something else. */
class Store {
  readonly objects = new Map<string, string>();
  readonly attempts: string[] = [];
  put: Put = () => Promise.resolve();

  readonly client = {
    send: async ({ input }: PutObjectCommand, { abortSignal }: { abortSignal: AbortSignal }) => {
      const [key, body] = [input.Key!, (input.Body as Buffer).toString()];
      this.attempts.push(key);
      await this.put(key, body, abortSignal);
      this.objects.set(key, body);
    },
    destroy: () => undefined,
  } as unknown as Pick<S3Client, 'send' | 'destroy'>;

  get ids(): number[] {
    const lines = [...this.objects.values()].flatMap((body) => body.trimEnd().split('\n'));
    return lines.map((line) => (JSON.parse(line) as { id: number }).id);
  }
}

const now = Date.parse('2026-03-01T10:00:00Z');
const counts = { written: 0, lost: 0, failed: 0 };
let log: S3RequestLog;
let store: Store;

function open(changes: Partial<RequestLogOptions> = {}): void {
  Object.assign(counts, { written: 0, lost: 0, failed: 0 });
  store = new Store();
  const logger = makeLogger('error');
  logger.transports[0]!.silent = true;
  const options = {
    ...{ bucket: 'logs', prefix: 'a/', writer: 'pod-0', flushMs: 60_000, farewellMs: 50 },
    ...{ objectBytes: 1e6, bufferBytes: 1e6, clock: () => now },
    ...changes,
  };
  log = new S3RequestLog(options, store.client, logger, {
    linesWritten: (count) => (counts.written += count),
    lineLost: () => (counts.lost += 1),
    writeFailed: () => (counts.failed += 1),
  });
}
afterEach(() => log.close());

const add = (from: number, to: number): void => {
  for (let id = from; id < to; id++) log.add({ id });
};
/** Of a line {"id":10} with its end. */
const lineBytes = 10;

test('objects lie by hour, and are cut between lines', async () => {
  open({ objectBytes: 3 * lineBytes + 5, bufferBytes: 1e6 });
  add(10, 15);
  await log.flush();
  expect([...store.objects]).toEqual([
    ['a/2026/03/01/10/pod-0-20260301T100000000Z-1.jsonl', '{"id":10}\n{"id":11}\n{"id":12}\n'],
    ['a/2026/03/01/10/pod-0-20260301T100000000Z-2.jsonl', '{"id":13}\n{"id":14}\n'],
  ]);
  expect(counts).toEqual({ written: 5, lost: 0, failed: 0 });
});

test('one is written when there is enough for it, and after a while in any case', async () => {
  open({ objectBytes: 3 * lineBytes, flushMs: 50 });
  add(10, 13);
  await sleep(0);
  expect(store.ids).toEqual([10, 11, 12]);
  add(13, 14);
  for (let i = 0; i < 2_500 && store.ids.length < 4; i++) await sleep(10);
  expect(store.ids).toEqual([10, 11, 12, 13]);
});

test('lines that come while an object is on its way wait for the next one, unless they are enough for it', async () => {
  open({ objectBytes: 4 * lineBytes });
  let next = 11;
  store.put = async () => {
    if (next < 30) add(next, next + 1);
    next += 1;
    await sleep(1);
  };
  add(10, 11);
  await log.flush();
  expect(store.ids).toEqual([10]);
  store.put = async () => {
    store.put = () => Promise.resolve();
    add(12, 17);
    await sleep(1);
  };
  await log.flush();
  expect([...store.objects.values()].map((body) => body.length / lineBytes)).toEqual([1, 1, 4]);
});

test('while the store fails lines wait, those without room are lost, and a batch is sent again under its name', async () => {
  open({ bufferBytes: 10 * lineBytes });
  store.put = () => Promise.reject(new Error('away'));
  add(10, 14);
  await log.flush();
  add(14, 25);
  await log.flush();
  expect(counts).toEqual({ written: 0, lost: 5, failed: 2 });
  store.put = () => Promise.resolve();
  await log.flush();
  expect(store.ids).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  expect(new Set(store.attempts).size).toBe(2);
  expect(counts).toEqual({ written: 10, lost: 5, failed: 2 });
});

test('a line that alone is larger than an object is one', async () => {
  open({ objectBytes: 5 });
  add(10, 12);
  await log.flush();
  expect([...store.objects.values()]).toEqual(['{"id":10}\n', '{"id":11}\n']);
});

test('the end waits for a store that hangs no longer than it may', async () => {
  open();
  store.put = (_key, _body, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
  add(10, 12);
  void log.flush();
  // It never ends by itself.
  await log.close();
  expect(store.ids).toEqual([]);
});

test('the end writes what came while an object was on its way', async () => {
  open({ farewellMs: 60_000 });
  store.put = () => sleep(10);
  add(10, 12);
  void log.flush();
  add(12, 14);
  await log.close();
  expect(store.ids).toEqual([10, 11, 12, 13]);
});
