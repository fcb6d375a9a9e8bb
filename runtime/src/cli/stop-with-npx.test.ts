import { afterEach, expect, jest, test } from '@jest/globals';
import { stopWithNpx } from './stop-with-npx.js';

jest.useFakeTimers();
afterEach(() => jest.clearAllTimers());

test.each([
  ['npx, whose shell is gone', 'npx', 1, 1],
  ['npx, whose shell runs', 'npx', 7, 0],
  ['a script of npm, which may leave it behind', 'start', 1, 0],
  ['a shell', undefined, 1, 0],
])('a command started by %s', (_, event, parent, stops) => {
  const stop = jest.fn();
  stopWithNpx({ env: { npm_lifecycle_event: event }, ppid: 7 }, () => parent, stop);
  jest.advanceTimersByTime(5_000);
  expect(stop).toHaveBeenCalledTimes(stops);
});
