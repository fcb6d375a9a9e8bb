import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { Logger } from 'winston';
import { WatchedFile } from './watched-file.js';

let folder: string;
let warnings: number;
let watched: WatchedFile<number> | null;
const logger = { info: () => undefined, warn: () => (warnings += 1) } as unknown as Logger;

const write = (text: string, name = 'a.json'): void => writeFileSync(join(folder, name), text);
const open = (): WatchedFile<number> => {
  watched = new WatchedFile({
    ...{ folder, logger, names: ['a.json', 'a.yaml'] },
    read: (text) => JSON.parse(text) as number,
  });
  return watched;
};

beforeEach(() => {
  jest.useFakeTimers();
  folder = mkdtempSync(join(tmpdir(), 'llmservice-watched-'));
  [warnings, watched] = [0, null];
});
afterEach(() => {
  watched?.stop();
  jest.useRealTimers();
  rmSync(folder, { recursive: true });
});

test('a file that changes is read anew', () => {
  write('1');
  const file = open();
  write('2');
  expect(file.current).toBe(1);
  jest.advanceTimersByTime(1_000);
  expect(file.current).toBe(2);
});

test('one that is broken, gone, or there twice leaves the last good one, and is logged once each', () => {
  write('1');
  const file = open();
  write('{');
  jest.advanceTimersByTime(5_000);
  expect([file.current, warnings]).toEqual([1, 1]);
  rmSync(join(folder, 'a.json'));
  jest.advanceTimersByTime(5_000);
  expect([file.current, warnings]).toEqual([1, 2]);
  write('3');
  write('4', 'a.yaml');
  jest.advanceTimersByTime(5_000);
  expect(file.current).toBe(1);
  rmSync(join(folder, 'a.yaml'));
  jest.advanceTimersByTime(1_000);
  expect(file.current).toBe(3);
});

test('none to begin with is an error that names the folder', () => {
  expect(open).toThrow(`${folder} must have one file a.json or a.yaml`);
});
