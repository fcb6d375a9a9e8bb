import { describe, expect, test } from '@jest/globals';
import { ociErrorTable, readOciError } from './oci-errors.js';
import { failureKinds, type FailureReason } from './failures.js';
import { describeStoreError } from './store-errors.js';

const answer = (code: string, status: number) => ({
  ...{ name: 'Error', code, message: 'a message', $metadata: { httpStatusCode: status } },
});

describe('a code of the table', () => {
  test.each(ociErrorTable.flatMap((row) => row.codes.map((code) => [code, row.means] as const)))(
    '%s is %s, whatever its status',
    (code, means) => {
      expect(readOciError(answer(code, 418)).means).toBe(means);
    },
  );
});

test.each([
  [401, 'RegistryAccessDenied'],
  [403, 'RegistryAccessDenied'],
  [404, 'objectAbsent'],
  [416, 'objectChanged'],
  [429, 'RegistryUnavailable'],
  [500, 'RegistryUnavailable'],
])('an answer without a code, with %i, is %s', (status, means) => {
  expect(readOciError(answer('', status)).means).toBe(means);
});

test('a registry that speaks TLS where HTTP was wanted is said to do so', () => {
  const failed = new TypeError('fetch failed', {
    cause: Object.assign(new Error('x'), { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }),
  });
  expect(describeStoreError(readOciError(failed))).toContain('spec.model.oci.plainHttp');
});

test.each(['RangeNotHonoured', 'TooManyRedirects', 'InsecureRedirect', 'InvalidRealm'])(
  '%s is not tried again, and has a remedy of its own',
  (code) => {
    const { means, hint } = readOciError({ name: 'Error', code, message: 'a message', $metadata: {} });
    expect(failureKinds[means as FailureReason].terminal).toBe(true);
    expect(hint).not.toBeNull();
  },
);
