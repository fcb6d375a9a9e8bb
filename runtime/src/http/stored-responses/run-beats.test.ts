import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { RunBeats } from './run-beats.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('a response is stored again and again, until it has ended', async () => {
  let beats = 0;
  const run = new RunBeats(() => Promise.resolve((beats += 1)));
  await jest.advanceTimersByTimeAsync(25_000);
  await run.stop();
  await jest.advanceTimersByTimeAsync(60_000);
  expect(beats).toBe(3);
});

test('the end of a response waits for one store that is slow, not for many', async () => {
  const open: (() => void)[] = [];
  const run = new RunBeats(() => new Promise<void>((resolve) => open.push(resolve)));
  await jest.advanceTimersByTimeAsync(300_000);
  const stopped = run.stop();
  expect(open).toHaveLength(1);
  open[0]!();
  await stopped;
});
