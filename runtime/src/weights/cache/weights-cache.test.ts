// The cache over a real file system with real locks; only the pulls are ours, so that each moment can be held.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { FailureError } from '@llmservice/crds';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileVersion } from '../checkpoint-source.js';
import { PullJournal } from '../pull-journal.js';
import { WeightsCache, type CacheEntry, type WeightsCacheOptions } from './weights-cache.js';

const origin = 'http://s3 s3://models/demo/';
const mib = 2 ** 20;
let root: string;
let seen: string[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'llmservice-cache-'));
  seen = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Another pod: a cache of its own over the same folder. */
function pod(change: Partial<WeightsCacheOptions> = {}): WeightsCache {
  const observer = {
    hit: (name: string) => seen.push(`hit ${name}`),
    missed: (name: string) => seen.push(`missed ${name}`),
    evicted: (name: string) => seen.push(`evicted ${name}`),
    damaged: (name: string, files: readonly string[]) => seen.push(`damaged ${name}: ${files.join(', ')}`),
  };
  return new WeightsCache({
    root,
    maxBytes: null,
    verify: 'onPull',
    volume: 'hostPath /cache',
    observer,
    ...change,
  });
}

const begun: [number, number][] = [];
const claiming = {
  observer: {
    begin: (done: number, total: number) => begun.push([done, total]),
    received: () => undefined,
    alive: () => undefined,
    elsewhere: () => undefined,
  },
  sleep: (ms: number) => sleep(Math.min(ms, 5)),
  signal: new AbortController().signal,
};
const claim = (cache: WeightsCache, name: string): Promise<CacheEntry> => cache.claim(name, origin, claiming);

const fileOf = (name: string, content: string | Buffer): FileVersion => ({
  name,
  bytes: content.length,
  etag: `"${name}-1"`,
  digest: { algorithm: 'md5', hex: createHash('md5').update(content).digest('hex') },
});

/** What a pull does. */
async function fill(entry: CacheEntry, contents: Readonly<Record<string, string | Buffer>>): Promise<void> {
  const files = Object.entries(contents).map(([name, content]) => fileOf(name, content));
  await entry.room.reserve(() => {
    for (const [name, content] of Object.entries(contents)) writeFileSync(join(entry.dir, name), content);
    return Promise.resolve(0);
  }, 0);
  await entry.commit(files);
}

/** An entry that was pulled, and is not used any more, since `secondsAgo`. */
async function keep(
  name: string,
  contents: Readonly<Record<string, string | Buffer>>,
  secondsAgo = 0,
): Promise<void> {
  const entry = await claim(pod(), name);
  await fill(entry, contents);
  entry.release();
  const at = Date.now() / 1000 - secondsAgo;
  utimesSync(join(root, 'locks', `${name}.use`), at, at);
}

describe('an entry', () => {
  test('is pulled by the first who comes; the second waits and gets it complete', async () => {
    const first = await claim(pod(), 'a');
    expect(first.isComplete).toBe(false);
    const second = claim(pod(), 'a');
    await expect(Promise.race([second, sleep(100, 'waits')])).resolves.toBe('waits');
    await fill(first, { 'config.json': '{}' });
    expect(realpathSync((await second).dir)).toBe(realpathSync(first.dir));
    expect((await second).isComplete).toBe(true);
    expect(seen).toEqual(['missed a', 'hit a']);
    expect(statSync(join(first.dir, 'config.json')).mode & 0o222).toBe(0);
  });

  test('that the first leaves incomplete is the next one’s, with what is there', async () => {
    const first = await claim(pod(), 'a');
    writeFileSync(join(first.dir, 'half'), 'x');
    const second = claim(pod(), 'a');
    first.release();
    expect((await second).isComplete).toBe(false);
    expect(readdirSync((await second).dir)).toContain('half');
  });

  test('is released although its lock was cleaned up', async () => {
    const entry = await claim(pod(), 'a');
    rmSync(join(root, 'locks'), { recursive: true });
    entry.release();
    expect((await claim(pod(), 'a')).isComplete).toBe(false);
  });

  test('reports to those who wait how far the pull is', async () => {
    const first = await claim(pod(), 'a');
    const journal = await PullJournal.open(first.dir);
    await journal.restart({ ...fileOf('w', 'x'), bytes: 100 });
    await journal.addRange({ ...fileOf('w', 'x'), bytes: 100 }, [0, 40]);
    begun.length = 0;
    const second = claim(pod(), 'a');
    while (begun.length === 0) await sleep(5);
    first.release();
    await second;
    expect(begun).toEqual([[40, 100]]);
  });
});

describe('damage', () => {
  const contents = { 'config.json': '{}', 'model.safetensors': 'weights' };

  test.each([
    ['a file that is gone', (path: string) => rmSync(path)],
    ['a file that was cut', (path: string) => writeFileSync(path, 'weigh')],
    ['a file that was written to', (path: string) => writeFileSync(path, 'WEIGHTS')],
  ])('%s is found at the next start, and it alone is pulled again', async (_, damage) => {
    await keep('a', contents);
    await sleep(20);
    damage(join(root, 'entries/a/model.safetensors'));
    const { isComplete, dir } = await claim(pod(), 'a');
    expect(isComplete).toBe(false);
    expect(seen.slice(1)).toEqual(['damaged a: model.safetensors', 'missed a']);
    expect(readdirSync(dir).filter((name) => !name.startsWith('.'))).toEqual(['config.json']);
  });

  test('does not make what another boot pulled and committed be pulled again', async () => {
    const entry = await claim(pod(), 'a');
    const whole = fileOf('config.json', '{}');
    await (await PullJournal.open(entry.dir)).setVerified(whole);
    const path = join(entry.dir, '.llmservice-pull.json');
    const written = JSON.parse(readFileSync(path, 'utf8')) as object;
    writeFileSync(path, JSON.stringify({ ...written, boot: 'another' }));
    await fill(entry, contents);
    entry.release();
    rmSync(join(root, 'entries/a/model.safetensors'));
    const { dir } = await claim(pod(), 'a');
    expect((await PullJournal.open(dir)).isVerified(whole)).toBe(true);
  });

  test('that neither size nor time shows is found by the digest, where that is asked for', async () => {
    await keep('a', contents);
    const path = join(root, 'entries/a/model.safetensors');
    const { mtimeMs } = statSync(path);
    writeFileSync(path, 'WEIGHTS');
    // The middle of the millisecond: its ends are lost to rounding.
    const time = (Math.floor(mtimeMs) + 0.5) / 1000;
    utimesSync(path, time, time);
    const trusting = await claim(pod(), 'a');
    expect(trusting.isComplete).toBe(true);
    expect((await claim(pod({ verify: 'always' }), 'a')).isComplete).toBe(false);
  });

  test('is not what a claim that is broken off had no time to read', async () => {
    await keep('a', contents);
    const stopping = new AbortController();
    const observer = { ...claiming.observer, alive: () => stopping.abort() };
    const options = { ...claiming, observer, signal: stopping.signal };
    await expect(pod({ verify: 'always' }).claim('a', origin, options)).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect((await claim(pod(), 'a')).isComplete).toBe(true);
  });

  test('of a file that two versions have is not carried from one to the other', async () => {
    await keep('a', contents);
    const b = await claim(pod(), 'b');
    writeFileSync(join(root, 'entries/a/model.safetensors'), 'WEIGHTS!');
    expect(await b.room.adopt(fileOf('model.safetensors', 'weights'))).toBe(false);
  });
});

test('a file that another version of the checkpoint has too is not kept twice', async () => {
  await keep('a', { 'config.json': 'old', 'model.safetensors': Buffer.alloc(mib) });
  const b = await claim(pod(), 'b');
  expect(await b.room.adopt(fileOf('model.safetensors', Buffer.alloc(mib)))).toBe(true);
  expect(await b.room.adopt({ ...fileOf('config.json', 'old'), etag: '"config-2"' })).toBe(false);
  expect(statSync(join(b.dir, 'model.safetensors')).ino).toBe(
    statSync(join(root, 'entries/a/model.safetensors')).ino,
  );
  const elsewhere = await pod().claim('c', 'http://s3 s3://other/', claiming);
  expect(await elsewhere.room.adopt(fileOf('model.safetensors', Buffer.alloc(mib)))).toBe(false);
});

describe('room', () => {
  const one = { w: Buffer.alloc(mib) };
  const limited = (mebibytes: number): WeightsCache => pod({ maxBytes: mebibytes * mib });

  test('is made by removing what was used longest ago, and no more than is needed', async () => {
    await keep('old', one, 300);
    await keep('older', one, 600);
    await keep('new', one, 100);
    const entry = await claim(limited(3.5), 'next');
    await fill(entry, one);
    expect(seen.filter((each) => each.startsWith('evicted'))).toEqual(['evicted older']);
    expect(readdirSync(join(root, 'entries')).sort()).toEqual(['new', 'next', 'old']);
  });

  test('is never made by removing what is in use, however long ago that began', async () => {
    await keep('idle', one, 10);
    await keep('used', one, 600);
    const user = await claim(pod(), 'used');
    utimesSync(join(root, 'locks/used.use'), 1, 1);
    await fill(await claim(limited(2.5), 'next'), one);
    expect(existsSync(join(user.dir, 'w'))).toBe(true);
    expect(existsSync(join(root, 'entries/idle'))).toBe(false);
    const refused = fill(await claim(limited(2.5), 'third'), one);
    const failure = await refused.catch((error: unknown) => error as FailureError);
    expect(failure).toMatchObject({ reason: 'WeightsDiskFull', detail: { maxBytes: 2.5 * mib } });
    expect((failure as Error).message).toContain('other pods use 2.0 MiB of it');
  });

  test('is not made for what fits nowhere', async () => {
    await keep('idle', one, 10);
    const refused = fill(await claim(limited(1), 'large'), { w: Buffer.alloc(2 * mib) });
    await expect(refused).rejects.toMatchObject({ reason: 'WeightsDiskFull' });
    expect(existsSync(join(root, 'entries/idle/w'))).toBe(true);
  });

  test('counts what a pull under way has claimed', async () => {
    const pulling = await claim(limited(3), 'pulling');
    await pulling.room.reserve(() => {
      writeFileSync(join(pulling.dir, 'w'), Buffer.alloc(2 * mib));
      return Promise.resolve(2 * mib);
    }, 0);
    const refused = fill(await claim(limited(3), 'next'), { w: Buffer.alloc(2 * mib) });
    await expect(refused).rejects.toMatchObject({ reason: 'WeightsDiskFull' });
  });
});

test('a manifest that is cut short, or is something else, makes its entry incomplete', async () => {
  await keep('a', { 'config.json': '{}' });
  const path = join(root, 'entries/a/.llmservice-manifest.json');
  const text = readFileSync(path, 'utf8');
  for (const content of [text.slice(0, -5), '{}', 'null']) {
    writeFileSync(path, content);
    const entry = await claim(pod(), 'a');
    expect(entry.isComplete).toBe(false);
    entry.release();
  }
});
