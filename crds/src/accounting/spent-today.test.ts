import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountingRecord } from './accounting-record.fixture.js';
import { formatRecord } from './accounting-record.js';
import { spentToday } from './spent-today.js';

const now = Date.now();
const record = { ...accountingRecord, time: new Date(now).toISOString() };

let dir: string;
let warnings: { readonly path: string }[];
const logger = {
  info: () => undefined,
  warn: (_: string, fields: object = {}) => warnings.push(fields as { readonly path: string }),
  error: () => undefined,
};

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'llmservice-spent-'));
  warnings = [];
  for (const name of ['b.jsonl', 'x.jsonl']) writeFileSync(join(dir, name), formatRecord(record));
});
afterEach(() => rmSync(dir, { recursive: true }));

const pathOf = (name: string): string => join(dir, name);
const spent = async (): Promise<object> => Object.fromEntries(await spentToday(dir, now, logger));

test.each<[string, (path: string) => void]>([
  ['a folder', (path) => mkdirSync(path)],
  ['a link to nowhere', (path) => symlinkSync(pathOf('nowhere'), path)],
  ['a link to itself', (path) => symlinkSync(path, path)],
  ['a pipe that nobody writes to', (path) => execFileSync('mkfifo', [path])],
])('%s among the logs is left out and logged, and the others count', async (_, make) => {
  // Before, between and behind the others.
  const names = ['a.jsonl', 'm.jsonl', 'z.jsonl'];
  names.forEach((name) => make(pathOf(name)));
  expect(await spent()).toEqual({ a: 30 });
  expect(warnings.map(({ path }) => path)).toEqual(names.map(pathOf));
});

test.each<[string, object]>([
  ['time', { time: undefined }],
  ['tokens of the prompt', { promptTokens: undefined }],
  ['tokens of the answer', { completionTokens: null }],
])('a line without its %s is no record, and the lines behind it count', async (_, changes) => {
  const lines = [JSON.stringify({ ...record, ...changes }), formatRecord(record)];
  writeFileSync(pathOf('b.jsonl'), lines.join('\n'));
  expect(await spent()).toEqual({ a: 30 });
});

test('a log that was last written yesterday is not read, whatever it is', async () => {
  mkdirSync(pathOf('a.jsonl'));
  utimesSync(pathOf('a.jsonl'), now / 1000 - 86_400, now / 1000 - 86_400);
  expect(await spent()).toEqual({ a: 30 });
  expect(warnings).toEqual([]);
});

test('where no log was ever written nothing was spent', async () => {
  expect(await spentToday(pathOf('none'), now, logger)).toEqual(new Map());
});

test('what should be the folder and is none is an error', async () => {
  await expect(spentToday(pathOf('b.jsonl'), now, logger)).rejects.toMatchObject({ code: 'ENOTDIR' });
});
