// Endpoints belong to the services: those that answer late or never keep no others waiting, nor the reconciles.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { safetensorsIndexFile } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import type { WantedService } from '../domain/wanted-service.js';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { WorkQueue } from '../watch/work-queue.js';
import type { CheckpointSource, OpenFolders } from './judge-checkpoint.js';
import { Preflight, type PreflightOptions } from './preflight.js';
import type { CheckpointFiles } from './read-safetensors.js';

const never = (): Promise<never> => new Promise(() => undefined);
const silent: CheckpointFiles = { read: never, readOptional: never, list: never };

function folder(contents: Readonly<Record<string, string | Uint8Array>>): CheckpointFiles {
  const read: CheckpointFiles['read'] = (file, maxBytes, beginAt = 0) => {
    const content = contents[file];
    if (content === undefined) return Promise.resolve(null);
    const bytes = Buffer.from(content);
    const range = bytes.subarray(beginAt, beginAt + maxBytes);
    return Promise.resolve({ bytes: range, fileBytes: bytes.byteLength, etag: String(bytes.byteLength) });
  };
  const listed = Object.entries(contents).map(([name, content]) => {
    const bytes = Buffer.from(content).byteLength;
    return { name, bytes, version: String(bytes) };
  });
  return { read, readOptional: read, list: () => Promise.resolve(listed) };
}

const header = JSON.stringify({ w: { dtype: 'BF16', shape: [1], data_offsets: [0, 2] } });
const whole = {
  'config.json': '{}',
  'model.safetensors': Buffer.concat([
    Buffer.from([header.length, 0, 0, 0, 0, 0, 0, 0, ...Buffer.from(header)]),
    Buffer.alloc(2),
  ]),
};
const good = folder(whole);
const names = Array.from({ length: 20_000 }, (_, at) => [
  `model.layers.${at}.mlp.experts.weight`,
  'model.safetensors',
]);
const longContents = {
  ...whole,
  [safetensorsIndexFile]: JSON.stringify({ weight_map: Object.fromEntries(names) }),
};
const long = folder(longContents);
/** Its index is long, and the rest of it never comes. */
const longSilent: CheckpointFiles = {
  ...long,
  read: (file, maxBytes, beginAt = 0) => (beginAt > 0 ? never() : long.read(file, maxBytes, beginAt)),
};

/** Of any engine, so that few files make a checkpoint. */
function service(namespace: string, name = namespace): WantedService {
  return { ...wantedService({ engine: { runtime: 'vllm' } }), namespace, name };
}

class Endpoints implements CheckpointSource {
  /** By the service's name. */
  readonly files = new Map<string, CheckpointFiles>();
  /** Namespaces of what is open now. */
  readonly opened: string[] = [];

  async open({ namespace, name }: WantedService): Promise<OpenFolders> {
    this.opened.push(namespace);
    const files = this.files.get(name) ?? silent;
    await Promise.resolve();
    return { at: () => files, close: () => void this.opened.splice(this.opened.indexOf(namespace), 1) };
  }
}

let endpoints: Endpoints;
let reported: string[];
let preflight: Preflight;
let lateMs: number;

function start(options: PreflightOptions = {}): void {
  preflight = new Preflight(endpoints, { onRead: (key) => reported.push(key), ...options });
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 5_000 && !holds(); tries += 1) await sleep(5);
  expect(holds()).toBe(true);
}

beforeEach(() => {
  endpoints = new Endpoints();
  endpoints.files.set('good', good).set('long', long).set('long-silent', longSilent);
  reported = [];
  lateMs = 0;
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + lateMs);
  start();
});

afterEach(() => {
  preflight.stop();
  jest.restoreAllMocks();
});

test('an endpoint that never answers is given up, and what was open is closed', async () => {
  start({ maxReadMs: 50 });
  expect(await preflight.resolve('bad/a', service('bad'))).toMatchObject({
    state: 'unavailable',
    failure: { reason: 'S3Unavailable' },
    known: null,
  });
  expect(endpoints.opened).toEqual([]);
});

test('a hundred silent endpoints of a tenant keep no service of another waiting', async () => {
  for (let at = 0; at < 100; at += 1) {
    expect(preflight.look(`bad/${at}`, service('bad'))).toMatchObject({ result: null });
  }
  expect(preflight.look('good/a', service('good'))).toMatchObject({ result: null });
  await until(() => reported.length > 0);
  expect(reported).toEqual(['good/a']);
  expect(preflight.look('good/a', service('good'))).toMatchObject({ result: { state: 'resolved' } });
  expect(endpoints.opened).toEqual(['bad', 'bad', 'bad', 'bad']);
});

test('endpoints that did not answer leave half of the places to others', async () => {
  start({ maxReadMs: 500 });
  const bad = Array.from({ length: 20 }, (_, at) => `bad-${at}`);
  await Promise.all(bad.map((namespace) => preflight.resolve(namespace, service(namespace))));
  lateMs = 60_000;
  for (const namespace of bad) preflight.look(namespace, service(namespace));
  expect(await preflight.resolve('good/a', service('good'))).toMatchObject({ state: 'resolved' });
  expect(endpoints.opened).toHaveLength(8);
});

describe('a long header or index', () => {
  test('is read in its turn, and waits for no tenant that drips its own', async () => {
    for (const at of [1, 2, 3]) preflight.look(`bad/${at}`, service('long-silent'));
    await until(() => endpoints.opened.length === 1);
    // The index lists more than its file has: it was read to its end.
    expect(await preflight.resolve('long/a', service('long'))).toMatchObject({
      state: 'failed',
      failure: { reason: 'CheckpointIncomplete' },
    });
    expect(endpoints.opened).toEqual(['long-silent']);
  });

  test('takes none of its time while it waits', async () => {
    start({ maxReadMs: 1_000, maxLongReadMs: 1_000 });
    for (const at of [1, 2]) preflight.look(`mixed/${at}`, service('mixed', 'long-silent'));
    await until(() => endpoints.opened.length === 1);
    const begin = performance.now();
    expect(await preflight.resolve('mixed/3', service('mixed', 'long'))).toMatchObject({
      state: 'failed',
    });
    expect(performance.now() - begin).toBeGreaterThan(1_500);
  });
});

test('a first read is reported once it takes long', async () => {
  expect(preflight.look('bad/a', service('bad'))).toMatchObject({ result: null });
  await until(() => endpoints.opened.length === 1);
  lateMs = 6_000;
  expect(preflight.look('bad/a', service('bad'))).toMatchObject({
    result: {
      state: 'unavailable',
      failure: {
        reason: 'S3Unavailable',
        message: expect.stringContaining('still being read for generation 3'),
      },
      known: null,
    },
    recheckMs: null,
  });
  expect(reported).toEqual([]);
});

test('what waits for others is reported as waiting, and once more when its turn comes', async () => {
  for (let at = 0; at < 5; at += 1) preflight.look(`bad/${at}`, service('bad'));
  await until(() => endpoints.opened.length === 4);
  lateMs = 6_000;
  const waits = {
    result: { state: 'reading', message: expect.stringContaining('once others are') },
    recheckMs: null,
  };
  expect(preflight.look('bad/4', service('bad'))).toMatchObject(waits);
  expect(reported).toEqual([]);
  preflight.forget('bad/0');
  await until(() => reported.length === 1);
  expect(reported).toEqual(['bad/4']);
  const { result, recheckMs } = preflight.look('bad/4', service('bad'));
  expect(result).toBeNull();
  expect(recheckMs).toBeGreaterThan(4_000);
  lateMs = 12_000;
  expect(preflight.look('bad/4', service('bad'))).toMatchObject({ result: { state: 'unavailable' } });
});

test('what is long is reported as being read, not that its endpoint is away', async () => {
  const open = jest.spyOn(endpoints, 'open');
  preflight.look('bad/a', service('long-silent'));
  await until(() => open.mock.calls.length === 2);
  lateMs = 6_000;
  expect(preflight.look('bad/a', service('long-silent'))).toMatchObject({
    result: { state: 'reading', message: expect.stringContaining('is long') },
  });
});

test('what is known stays while it is read again, and when that comes to nothing', async () => {
  start({ maxReadMs: 1_000 });
  const resolved = await preflight.resolve('good/a', service('good'));
  expect(resolved).toMatchObject({ state: 'resolved' });
  expect(preflight.look('good/a', service('good'))).toMatchObject({
    result: resolved,
    recheckMs: expect.any(Number),
  });
  endpoints.files.set('good', silent);
  lateMs = 11 * 60_000;
  expect(preflight.look('good/a', service('good'))).toEqual({ result: resolved, recheckMs: null });
  reported.length = 0;
  await until(() => reported.length === 1);
  expect(preflight.look('good/a', service('good'))).toMatchObject({
    result: { state: 'unavailable', known: { fileBytes: expect.any(Number) } },
  });
});

test('what a service wants no more is read no more', async () => {
  preflight.look('bad/a', service('bad'));
  await until(() => endpoints.opened.length === 1);
  endpoints.files.set('bad', good);
  expect(await preflight.resolve('bad/a', { ...service('bad'), retry: '1' })).toMatchObject({
    state: 'resolved',
  });
  expect(endpoints.opened).toEqual([]);
  expect(reported).toEqual(['bad/a']);
});

test('the end of a read that was forgotten is reported to nobody, and its place is free', async () => {
  for (let at = 0; at < 8; at += 1) preflight.look(`bad/${at}`, service('bad'));
  await until(() => endpoints.opened.length === 4);
  for (let at = 0; at < 8; at += 1) preflight.forget(`bad/${at}`);
  await until(() => endpoints.opened.length === 0);
  expect(reported).toEqual([]);
  preflight.look('bad/9', service('bad'));
  await until(() => endpoints.opened.length === 1);
});

test('stopping closes all that is open', async () => {
  preflight.look('bad/a', service('bad'));
  await until(() => endpoints.opened.length === 1);
  preflight.stop();
  await until(() => endpoints.opened.length === 0);
});

describe('what is no failure of the service', () => {
  const away = new Error('the API server is away');

  test('is thrown once and then reported, until it is read again', async () => {
    const open = jest.spyOn(endpoints, 'open').mockRejectedValueOnce(away);
    preflight.look('good/a', service('good'));
    await until(() => reported.length === 1);
    expect(() => preflight.look('good/a', service('good'))).toThrow(away);
    const { result, recheckMs } = preflight.look('good/a', service('good'));
    expect(result).toMatchObject({ state: 'reading', message: expect.stringContaining(away.message) });
    expect(recheckMs).toBeGreaterThan(2_000);
    await expect(preflight.resolve('good/a', service('good'))).rejects.toThrow(away);
    expect(open).toHaveBeenCalledTimes(1);
    lateMs = 4_000;
    const resolved = { state: 'resolved' };
    expect(await preflight.resolve('good/a', service('good'))).toMatchObject(resolved);
    expect(preflight.look('good/a', service('good')).result).toMatchObject(resolved);
    expect(open).toHaveBeenCalledTimes(2);
  });

  test('takes nothing away from what is known', async () => {
    const resolved = await preflight.resolve('good/a', service('good'));
    jest.spyOn(endpoints, 'open').mockRejectedValue(away);
    lateMs = 11 * 60_000;
    reported.length = 0;
    preflight.look('good/a', service('good'));
    await until(() => reported.length === 1);
    expect(() => preflight.look('good/a', service('good'))).toThrow(away);
    expect(preflight.look('good/a', service('good')).result).toEqual(resolved);
  });

  test('is asked about with back-off, whatever the queue does', async () => {
    const open = jest.spyOn(endpoints, 'open').mockRejectedValue(away);
    const errors: unknown[] = [];
    const queue = new WorkQueue({
      concurrency: 1,
      backoff: { firstMs: 1, maxMs: 10 },
      work: (key) => Promise.resolve().then(() => preflight.look(key, service('good')).recheckMs),
      onError: (_key, error) => errors.push(error),
    });
    start({ onRead: (key) => queue.add(key) });
    queue.add('good/a');
    await until(() => errors.length === 1);
    await sleep(300);
    expect(open).toHaveBeenCalledTimes(1);
    // Its timers run by a clock of their own.
    lateMs = 4_000;
    queue.add('good/a');
    await until(() => errors.length === 2);
    await sleep(300);
    await queue.stop();
    expect(open).toHaveBeenCalledTimes(2);
    expect(errors).toEqual([away, away]);
  });
});

describe('a checkpoint that ended its reader', () => {
  const failure = { reason: 'CheckpointUnreadable', message: 'took more than 384 MiB' } as const;

  test('is not read again at once, by this operator or the next', async () => {
    let reads = 0;
    const ends = (): Promise<never> => {
      reads += 1;
      return Promise.reject(new FailureError(failure.reason, failure.message));
    };
    start({ longReader: { judge: ends } });
    expect(await preflight.resolve('a/long', service('a', 'long'))).toEqual({ state: 'failed', failure });
    lateMs = 5 * 60_000;
    expect(preflight.look('a/long', service('a', 'long'))).toMatchObject({
      result: { state: 'failed', failure },
    });
    expect(reads).toBe(1);
    start({ longReader: { judge: ends } });
    const next = preflight.look('a/long', service('a', 'long'), failure);
    expect(next.result).toEqual({ state: 'failed', failure });
    expect(next.recheckMs).toBeGreaterThan(5 * 60_000);
    expect(reads).toBe(1);
  });

  describe('has its content remembered', () => {
    let reads = 0;
    const endsWith = (name: string): Promise<unknown> => preflight.resolve(`a/${name}`, service('a', 'long'));
    beforeEach(() => {
      reads = 0;
      const judge = (): Promise<never> => {
        reads += 1;
        return Promise.reject(new FailureError(failure.reason, failure.message));
      };
      start({ longReader: { judge } });
    });
    const failed = { state: 'failed', failure };

    test('by all services, edits and later looks, until it changes', async () => {
      const edited = {
        ...service('a', 'long'),
        spec: { ...service('a').spec, env: [{ name: 'A', value: 'b' }] },
      };
      expect(await endsWith('one')).toEqual(failed);
      expect(await endsWith('two')).toEqual(failed);
      expect(await preflight.resolve('b/long', service('b', 'long'))).toEqual(failed);
      expect(await preflight.resolve('a/one', edited)).toEqual(failed);
      lateMs = 11 * 60_000;
      expect(await endsWith('two')).toEqual(failed);
      expect(reads).toBe(1);
      endpoints.files.set('long', folder({ ...longContents, 'config.json': '{"changed":1}' }));
      lateMs *= 2;
      expect(await endsWith('two')).toEqual(failed);
      expect(reads).toBe(2);
    });

    test('for a day, or until a person asks for another look', async () => {
      expect(await endsWith('one')).toEqual(failed);
      expect(await preflight.resolve('a/one', { ...service('a', 'long'), retry: '1' })).toEqual(failed);
      expect(reads).toBe(2);
      lateMs = 25 * 3_600_000;
      expect(await preflight.resolve('a/one', { ...service('a', 'long'), retry: '1' })).toEqual(failed);
      expect(reads).toBe(3);
    });

    test.each<[string, Partial<WantedService>]>([
      ['of another place', { checkpoint: { bucket: 'models', prefix: 'other/', file: null } }],
      // What ended the reader there may be the head.
      ['with a head of another checkpoint', { head: { bucket: 'models', prefix: 'head/', file: null } }],
    ])('and is no word on one %s', async (_, change) => {
      expect(await preflight.resolve('b/long', { ...service('b', 'long'), ...change })).toEqual(failed);
      expect(await endsWith('one')).toEqual(failed);
      expect(reads).toBe(2);
    });

    test.each<[string, CheckpointFiles['list']]>([
      ['may not be listed', () => Promise.reject(new FailureError('S3AccessDenied', 'no right to list'))],
      ['has no versions', () => Promise.resolve([{ name: 'config.json', bytes: 2, version: null }])],
      ['is not in its listing', () => Promise.resolve([])],
    ])('where it can be known: not of what %s', async (_, list) => {
      endpoints.files.set('long', { ...long, list });
      expect(await endsWith('one')).toEqual(failed);
      expect(await endsWith('two')).toEqual(failed);
      expect(reads).toBe(2);
    });
  });

  test('is read again once something changes', async () => {
    preflight.look('a/good', service('a', 'good'), failure);
    const changed = { ...service('a', 'good'), retry: '1' };
    expect(await preflight.resolve('a/good', changed)).toMatchObject({ state: 'resolved' });
  });
});
