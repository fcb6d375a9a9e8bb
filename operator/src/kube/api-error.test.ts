import { expect, test } from '@jest/globals';
import { retryAfterMs, toApiError } from './api-error.js';

const now = Date.parse('2026-11-25T12:00:00Z');

test.each([
  [undefined, null],
  ['', null],
  ['soon', null],
  ['-1', 0],
  ['0', 0],
  ['7', 7_000],
  ['Wed, 25 Nov 2026 12:00:30 GMT', 30_000],
  ['Wed, 25 Nov 2026 11:00:00 GMT', 0],
])('Retry-After: %s', (header, ms) => {
  expect(retryAfterMs(header, now)).toBe(ms);
});

test('an answer that is no Status is reported as it is', () => {
  expect(toApiError(502, '<html>', '3')).toMatchObject({
    status: 502,
    message: '<html>',
    retryAfterMs: 3_000,
  });
  expect(toApiError(502, '').message).toBe('HTTP 502');
});
