// What a load prints, on a terminal and into a file.

import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { HealthBody } from '../http/replica/lifecycle.js';
import { LoadDisplay } from './load-display.js';

const gib = 2 ** 30;
let written: string[];
let body: HealthBody;
let display: LoadDisplay;

beforeEach(() => {
  jest.useFakeTimers();
  written = [];
});
afterEach(() => {
  display.stop();
  jest.useRealTimers();
});

function show(isTTY: boolean): void {
  const write = (text: string): boolean => written.push(text) > 0;
  display = new LoadDisplay(
    () => body,
    { isTTY, columns: 80, write },
    () => undefined,
  );
}

function loading(bytesDone: number, warmup: { done: number; total: number } | null = null): HealthBody {
  const bytes = { bytesDone, bytesTotal: 100 * gib };
  return {
    state: 'loading',
    model: 'tiny',
    engine: null,
    failure: null,
    load: {
      ...bytes,
      phase: warmup === null ? 'load' : 'warmup',
      bytesPerSecond: gib,
      etaSeconds: 1,
      pulled: null,
      loaded: bytes,
      warmup,
    },
  };
}

test('without a terminal each tenth of a phase is one line', () => {
  show(false);
  for (let second = 0; second <= 100; second += 1) {
    body = loading(second * gib);
    jest.advanceTimersByTime(1_000);
  }
  for (let done = 0; done <= 50; done += 1) {
    body = loading(100 * gib, { done, total: 50 });
    jest.advanceTimersByTime(1_000);
  }
  expect(written).toHaveLength(22);
  expect(written[0]).toMatch(/^loading \[\.+\] 0 % of 100\.00 GiB .*\n$/);
  expect(written[10]).toMatch(/ 100 % of /);
  expect(written.slice(11, 13)).toEqual(['warming up 0/50\n', 'warming up 5/50\n']);
});

test('a failure is a line at once', () => {
  show(false);
  body = loading(50 * gib);
  jest.advanceTimersByTime(1_000);
  body = { ...body, state: 'failed', failure: { reason: 'LoadStalled', message: 'no progress' } };
  jest.advanceTimersByTime(1_000);
  expect(written[1]).toBe('failed: LoadStalled: no progress\n');
});

test('on a terminal one line is written again as it changes', () => {
  show(true);
  for (let second = 0; second <= 10; second += 1) {
    body = loading(second * gib);
    jest.advanceTimersByTime(1_000);
  }
  expect(written).toHaveLength(11);
  expect(written.every((text) => text.startsWith('\r'))).toBe(true);
});
