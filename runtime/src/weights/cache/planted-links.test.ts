// A cache in which another pod of the namespace has put links, pipes and folders under the names of the cache's own files:
// nothing outside of it is read, written or removed, and nothing waits.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { HeldFolder } from '@llmservice/crds/held-folder';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileVersion } from '../checkpoint-source.js';
import { PullJournal } from '../pull-journal.js';
import { removeTree } from './remove-tree.js';
import { WeightsCache, type CacheEntry } from './weights-cache.js';

const origin = 'http://s3 s3://models/demo/';
let base: string;
let root: string;
let outside: string;
const secretText = 'of another volume of the pod';

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'llmservice-planted-'));
  [root, outside] = [join(base, 'root'), join(base, 'outside')];
  for (const dir of [root, outside, join(outside, 'a')]) mkdirSync(dir);
  for (const file of ['secret', 'a/secret']) writeFileSync(join(outside, file), secretText);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const isUnharmed = (): boolean =>
  readdirSync(outside, { recursive: true }).sort().join() === 'a,a/secret,secret' &&
  ['secret', 'a/secret'].every((file) => readFileSync(join(outside, file), 'utf8') === secretText);

const nobody = {
  hit: () => undefined,
  missed: () => undefined,
  evicted: () => undefined,
  damaged: () => undefined,
};
const cache = (maxBytes: number | null = null): WeightsCache =>
  new WeightsCache({ root, maxBytes, verify: 'onPull', volume: 'hostPath /cache', observer: nobody });
const pulling = {
  begin: () => undefined,
  received: () => undefined,
  alive: () => undefined,
  elsewhere: () => undefined,
};
const claim = (name: string, maxBytes: number | null = null): Promise<CacheEntry> =>
  cache(maxBytes).claim(name, origin, {
    observer: pulling,
    sleep: (ms) => sleep(Math.min(ms, 5)),
    signal: new AbortController().signal,
  });
const file = (content: string): FileVersion => ({
  name: 'w',
  bytes: content.length,
  etag: '"1"',
  digest: { algorithm: 'md5', hex: createHash('md5').update(content).digest('hex') },
});

async function keep(name: string): Promise<void> {
  const entry = await claim(name);
  writeFileSync(join(entry.dir, 'w'), 'weights');
  await entry.commit([file('weights')]);
  entry.release();
}

const entry = (...path: string[]): string => join(root, 'entries', ...path);
const pipe = (path: string): void => void execFileSync('mkfifo', [path]);
const replace = (path: string, plant: (path: string) => void): void => {
  rmSync(path, { recursive: true, force: true });
  plant(path);
};
const linkTo =
  (target: string) =>
  (path: string): void =>
    symlinkSync(join(outside, target), path);

describe('is refused, with the name that is in the way', () => {
  test.each<[string, string, (path: string) => void]>([
    ['a link in the place of all entries', 'entries', linkTo('.')],
    ['a link in the place of all locks', 'locks', linkTo('.')],
    ['a link in the place of the entry', 'entries/a', linkTo('a')],
    ['a file in the place of the entry', 'entries/a', (path) => writeFileSync(path, '')],
    ['a link in the place of the lock of use', 'locks/a.use', linkTo('secret')],
    ['a link to nothing in the place of the lock of use', 'locks/a.use', linkTo('made')],
    ['a pipe in the place of the lock of use', 'locks/a.use', pipe],
    ['a folder in the place of the lock of use', 'locks/a.use', (path) => mkdirSync(path)],
  ])('%s', async (_, name, plant) => {
    await keep('a');
    replace(join(root, name), plant);
    const failure = await claim('a').catch((error: unknown) => error);
    expect(failure).toMatchObject({ reason: 'WeightsCacheUnsafe' });
    expect((failure as Error).message).toContain(join(root, name));
    expect(isUnharmed()).toBe(true);
  });

  test.each<[string, (path: string) => void]>([
    ['a link', linkTo('secret')],
    ['a pipe', pipe],
  ])('%s in the place of the lock of a pull, and of the one for room', async (_, plant) => {
    await keep('a');
    replace(join(root, 'locks/b.pull'), plant);
    await expect(claim('b')).rejects.toMatchObject({ reason: 'WeightsCacheUnsafe' });
    replace(join(root, 'locks/room'), plant);
    const { room } = await claim('c');
    await expect(room.reserve(() => Promise.resolve(0), 0)).rejects.toMatchObject({
      reason: 'WeightsCacheUnsafe',
    });
    expect(isUnharmed()).toBe(true);
  });
});

describe('is no part of a checkpoint', () => {
  test.each<[string, (path: string) => void]>([
    ['a link', linkTo('secret')],
    ['a pipe', pipe],
    ['a folder', (path) => mkdirSync(path)],
  ])('%s in the place of the manifest or the journal', async (_, plant) => {
    await keep('a');
    for (const name of ['.llmservice-manifest.json', '.llmservice-pull.json'])
      replace(entry('a', name), plant);
    const { isComplete, dir } = await claim('a');
    expect(isComplete).toBe(false);
    expect((await PullJournal.open(dir)).isVerified(file('weights'))).toBe(false);
    expect(isUnharmed()).toBe(true);
  });

  test('a manifest without an end', async () => {
    await keep('a');
    truncateSync(entry('a', '.llmservice-manifest.json'), 2 ** 40);
    expect((await claim('a')).isComplete).toBe(false);
  });

  test('a link to a file of the same size and time', async () => {
    await keep('a');
    const { mtimeMs } = lstatSync(entry('a', 'w'));
    const copy = join(base, 'copy');
    writeFileSync(copy, 'WEIGHTS');
    const time = (Math.floor(mtimeMs) + 0.5) / 1000;
    utimesSync(copy, time, time);
    replace(entry('a', 'w'), (path) => symlinkSync(copy, path));
    const { isComplete } = await claim('a');
    expect(isComplete).toBe(false);
    expect(existsSync(entry('a', 'w'))).toBe(false);
    expect(readFileSync(copy, 'utf8')).toBe('WEIGHTS');
  });

  test('a link of that kind in another version of the checkpoint', async () => {
    await keep('a');
    const { mtimeMs } = lstatSync(entry('a', 'w'));
    const time = (Math.floor(mtimeMs) + 0.5) / 1000;
    writeFileSync(join(base, 'copy'), 'WEIGHTS');
    utimesSync(join(base, 'copy'), time, time);
    replace(entry('a', 'w'), (path) => symlinkSync(join(base, 'copy'), path));
    const { room, dir } = await claim('b');
    expect(await room.adopt(file('weights'))).toBe(false);
    expect(existsSync(join(dir, 'w'))).toBe(false);
  });
});

test('a link in the place of what is written next is replaced, and not written through', async () => {
  const { dir, commit } = await claim('a');
  writeFileSync(join(dir, 'w'), 'weights');
  for (const name of ['.llmservice-manifest.json', '.llmservice-pull.json']) {
    for (const end of ['', '.new']) linkTo('secret')(join(dir, name + end));
  }
  await (await PullJournal.open(dir)).setVerified(file('weights'));
  await commit([file('weights')]);
  expect(isUnharmed()).toBe(true);
  expect(lstatSync(entry('a', '.llmservice-manifest.json')).isFile()).toBe(true);
  expect(lstatSync(entry('a', '.llmservice-pull.json')).isFile()).toBe(true);
});

describe('what is evicted takes nothing else with it', () => {
  test('an entry with links and folders in it, and an entry that is a link', async () => {
    await keep('old');
    linkTo('.')(entry('old', 'link'));
    mkdirSync(entry('old', 'nested', 'deeper'), { recursive: true });
    linkTo('a')(entry('old', 'nested', 'deeper', 'link'));
    linkTo('a')(entry('linked'));
    const { room, dir } = await claim('new', 7);
    await room.reserve(() => {
      writeFileSync(join(dir, 'w'), 'weights');
      return Promise.resolve(0);
    }, 0);
    expect(readdirSync(entry())).toEqual(['new']);
    expect(isUnharmed()).toBe(true);
  });

  test('while somebody puts a link in the place of a folder that is being emptied', async () => {
    const swap = `
      const fs = require('node:fs');
      const [path, outside] = process.argv.slice(1);
      process.stdout.write('ready');
      for (;;) {
        try { fs.renameSync(path, path + '.kept'); fs.symlinkSync(outside, path); } catch {}
        try { fs.unlinkSync(path); } catch {}
        try { fs.renameSync(path + '.kept', path); } catch {}
      }`;
    const victim = join(root, 'victim');
    const attacker = spawn(process.execPath, ['-e', swap, victim, outside], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(attacker.stdout, 'data');
    const held = HeldFolder.open(root);
    const counts = { removed: 0, refused: 0, escaped: 0 };
    // Many tries, of each outcome one at least: a slow machine has less of them.
    const enoughAt = performance.now() + 10_000;
    const isEnough = (round: number): boolean =>
      Math.min(counts.removed, counts.refused) > 0 && (round >= 2_000 || performance.now() >= enoughAt);
    try {
      for (let round = 0; !isEnough(round); round += 1) {
        const made = join(base, 'made');
        mkdirSync(made, { recursive: true });
        for (const name of ['x', 'y', 'z']) writeFileSync(join(made, name), '');
        try {
          renameSync(made, victim);
        } catch {
          // The attacker's link or folder has the name.
        }
        const isRemoved = await removeTree(held, 'victim').then(
          () => true,
          () => false,
        );
        counts[isRemoved ? 'removed' : 'refused'] += 1;
        if (!isUnharmed()) counts.escaped += 1;
      }
    } finally {
      attacker.kill('SIGKILL');
      await once(attacker, 'exit');
      held.close();
    }
    expect(counts.escaped).toBe(0);
  });
});
