import { describe, expect, test } from '@jest/globals';
import { hubErrorTable, readHubError } from './hub-errors.js';
import { describeStoreError } from './store-errors.js';

const answer = (code: string, status: number) => ({
  ...{ name: 'Error', code, message: 'a message', $metadata: { httpStatusCode: status } },
});

describe('a code of the table', () => {
  test.each(hubErrorTable.flatMap((row) => row.codes.map((code) => [code, row.means] as const)))(
    '%s is %s, whatever its status',
    (code, means) => {
      expect(readHubError(answer(code, 418)).means).toBe(means);
    },
  );
});

test.each([
  [401, 'HubAccessDenied'],
  [403, 'HubAccessDenied'],
  [404, 'objectAbsent'],
  [416, 'objectChanged'],
  [429, 'HubUnavailable'],
  [500, 'HubUnavailable'],
])('an answer without a code, with %i, is %s', (status, means) => {
  expect(readHubError(answer('', status)).means).toBe(means);
});

test('a hub that hides what it has is said to do so', () => {
  expect(describeStoreError(readHubError(answer('RepoNotFound', 401)))).toBe(
    'HTTP 401 RepoNotFound; a private repository is hidden from a request without a token that may read it',
  );
});

test('an error of the connection is found behind that of fetch', () => {
  const failed = new TypeError('fetch failed', {
    cause: Object.assign(new Error('x'), { code: 'ENOTFOUND' }),
  });
  expect(describeStoreError(readHubError(failed))).toBe(
    'ENOTFOUND; the host of spec.model.hub.endpoint has no address',
  );
});
