import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PullJournal } from './pull-journal.js';

const file = { name: 'model.safetensors', bytes: 100, etag: '"a"', digest: null };
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'journal-'));
});
afterEach(() => rm(dir, { recursive: true }));

test('a reopened journal knows the finished ranges', async () => {
  const journal = await PullJournal.open(dir);
  await Promise.all([
    journal.addRange(file, [50, 100]),
    journal.addRange(file, [0, 20]),
    journal.addRange(file, [20, 30]),
  ]);
  const reopened = await PullJournal.open(dir);
  expect(reopened.done(file)).toEqual([
    [0, 30],
    [50, 100],
  ]);
  expect(reopened.doneBytes(file)).toBe(80);
});

test.each([{ etag: '"b"' }, { bytes: 101 }])('another version (%j) starts anew', async (change) => {
  const journal = await PullJournal.open(dir);
  await journal.addRange(file, [0, 100]);
  await journal.setVerified(file);
  const changed = { ...file, ...change };
  expect(journal.doneBytes(changed)).toBe(0);
  expect(journal.isVerified(changed)).toBe(false);
});

test('of another boot only what was verified counts: the rest may never have reached the disk', async () => {
  const other = { ...file, name: 'other.safetensors' };
  const before = await PullJournal.open(dir);
  await before.setVerified(file);
  await before.addRange(other, [0, 10]);
  const path = join(dir, '.llmservice-pull.json');
  const written = JSON.parse(await readFile(path, 'utf8')) as object;
  await writeFile(path, JSON.stringify({ ...written, boot: 'another' }));
  const journal = await PullJournal.open(dir);
  expect([journal.isVerified(file), journal.doneBytes(other)]).toEqual([true, 0]);
});

test('a journal that does not name its boot is an empty one', async () => {
  const entry = { bytes: 100, etag: '"a"', done: [[0, 100]], verified: true, mismatches: 0 };
  await writeFile(join(dir, '.llmservice-pull.json'), JSON.stringify({ [file.name]: entry }));
  expect((await PullJournal.open(dir)).isVerified(file)).toBe(false);
});

test('an unreadable journal is an empty one', async () => {
  await writeFile(join(dir, '.llmservice-pull.json'), '{"model.safet');
  expect((await PullJournal.open(dir)).doneBytes(file)).toBe(0);
});
