import { expect, test } from '@jest/globals';
import { ApiError } from '../kube/client.js';
import { planWatchRetry, watchSeconds } from './watch-retry.js';

const api = (status: number, retryAfterMs: number | null = null, reason = 'X'): ApiError =>
  new ApiError(status, 'x', reason, retryAfterMs);

test.each([
  ['a cut connection', new Error('ECONNRESET'), false],
  ['429', api(429), false],
  ['401', api(401), false],
  ['403', api(403), false],
  ['500', api(500), false],
  ['503', api(503), false],
  ['410', api(410), true],
  ['Expired', api(200, null, 'Expired'), true],
  ['404', api(404), true],
  ['400', api(400), true],
])('%s: a new list? %s', (_, error, relist) => {
  expect(planWatchRetry(error, 1, 0.5).relist).toBe(relist);
});

test('500 again and again may hide a version that is gone', () => {
  const lists = Array.from({ length: 24 }, (_, index) => planWatchRetry(api(500), index + 1, 0.5).relist);
  expect(lists.filter(Boolean)).toHaveLength(3);
  const busy = Array.from({ length: 24 }, (_, index) => planWatchRetry(api(503), index + 1, 0.5).relist);
  expect(busy.filter(Boolean)).toEqual([]);
});

test('pauses grow to a quarter of a minute, spread over all of it', () => {
  const delays = (random: number): number[] =>
    [1, 2, 3, 30].map((failures) => planWatchRetry(api(503), failures, random).delayMs);
  expect(delays(0)).toEqual([0, 0, 0, 0]);
  expect(delays(0.5)).toEqual([200, 400, 800, 7_500]);
});

test('what the server asks for is waited for, and spread; a day is not', () => {
  expect(planWatchRetry(api(429, 5_000), 1, 0).delayMs).toBe(5_000);
  expect(planWatchRetry(api(429, 5_000), 1, 0.5).delayMs).toBe(5_200);
  expect(planWatchRetry(api(503, 86_400_000), 1, 0).delayMs).toBe(120_000);
});

test('watches that grow old together do not list together', () => {
  expect([0, 0.25, 0.5].map((random) => planWatchRetry(api(410), 1, random).delayMs)).toEqual([0, 250, 500]);
  expect([0, 0.999].map(watchSeconds)).toEqual([300, 599]);
});
