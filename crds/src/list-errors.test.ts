import { describe, expect, test } from '@jest/globals';
import { failureKinds, type FailureReason } from './failures.js';
import { listErrorTable, readListError } from './list-errors.js';

const answer = (code: string, status: number) => ({
  ...{ name: 'Error', code, message: 'a message', $metadata: { httpStatusCode: status } },
});

describe('a code of the table', () => {
  test.each(listErrorTable.flatMap((row) => row.codes.map((code) => [code, row.means] as const)))(
    '%s is %s, whatever its status',
    (code, means) => {
      expect(readListError(answer(code, 418)).means).toBe(means);
    },
  );
});

test.each([
  [401, 'ListAccessDenied'],
  [403, 'ListAccessDenied'],
  [416, 'objectChanged'],
  [429, 'ListUnavailable'],
  [500, 'ListUnavailable'],
])('an answer without a code, with %i, is %s', (status, means) => {
  expect(readListError(answer('', status)).means).toBe(means);
});

test.each([
  'NoJson',
  'InvalidPath',
  'AnswerTooLong',
  'RangeNotHonoured',
  'InsecureAddress',
  'SizeDiffers',
  'FileGone',
  'InsecureToken',
  'RequestRefused',
])('%s is not tried again, and has a remedy of its own', (code) => {
  const { means, hint } = readListError({ name: 'Error', code, message: 'a message', $metadata: {} });
  expect(failureKinds[means as FailureReason].terminal).toBe(true);
  expect(hint).not.toBeNull();
});
