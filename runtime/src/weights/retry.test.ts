import { expect, test } from '@jest/globals';
import { UnavailableError, WrongRangeError } from './checkpoint-source.js';
import { retryWhileUnavailable } from './retry.js';

const observer = { unavailable: () => undefined, available: () => undefined };

/** Tries that fail one after the other, and then succeed with how many there were. */
function retry(failures: readonly Error[]): Promise<number> {
  let tries = 0;
  const attempt = (): Promise<number> => {
    const failure = failures[tries];
    tries += 1;
    return failure === undefined ? Promise.resolve(tries) : Promise.reject(failure);
  };
  return retryWhileUnavailable(attempt, observer, () => Promise.resolve());
}

const wrong = new WrongRangeError('s3', 'read s3://b/m: HTTP 200');
const away = new UnavailableError('s3', 'refused');
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

test('a source that is away is waited for, however long', async () => {
  await expect(retry(times(100, away))).resolves.toBe(101);
});

test('a proxy that ignored a range a few times is asked again, also after the source was away', async () => {
  await expect(retry([...times(100, away), wrong, away, wrong])).resolves.toBe(104);
});

test('a server that honours no range ends the pull', async () => {
  await expect(retry(times(100, wrong))).rejects.toMatchObject({
    reason: 'S3Unavailable',
    message: expect.stringContaining(wrong.message),
  });
});

test('any other error passes through at once', async () => {
  const other = new Error('other');
  await expect(retry([other])).rejects.toBe(other);
});
