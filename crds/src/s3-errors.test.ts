import { describe, expect, test } from '@jest/globals';
import { readS3Error, s3ErrorTable } from './s3-errors.js';
import { describeStoreError } from './store-errors.js';

const answer = (name: string, status: number, more: object = {}) => ({
  ...{ name, message: 'a message', $metadata: { httpStatusCode: status } },
  ...more,
});

describe('a code of the table', () => {
  test.each(s3ErrorTable.flatMap((row) => row.codes.map((code) => [code, row] as const)))(
    '%s is read by its own row, whatever its status',
    (code, { means, like }) => {
      const message = like === undefined ? 'x' : 'the region is wrong';
      expect(readS3Error(answer(code, 418, { message })).means).toBe(means);
      expect(readS3Error({ name: 'Error', code, message }).means).toBe(means);
    },
  );

  test('stands in one row, but for the one that a message distinguishes', () => {
    const codes = s3ErrorTable.flatMap((row) => row.codes);
    const twice = codes.filter((code, index) => codes.indexOf(code) !== index);
    expect(twice).toEqual(['AuthorizationHeaderMalformed']);
  });
});

test.each([
  ['Unknown', 403, 'S3AccessDenied'],
  ['UnknownError', 400, 'S3AccessDenied'],
  ['Unheard', 400, 'S3Unavailable'],
  ['Unheard', 301, 'S3RegionMismatch'],
  ['Unheard', 404, 'objectAbsent'],
  ['Unheard', 412, 'objectChanged'],
  ['Unheard', 418, 'S3Unavailable'],
  ['Unheard', 503, 'S3Unavailable'],
])('the code %s, which no row has, with %i is %s', (code, status, means) => {
  expect(readS3Error(answer(code, status)).means).toBe(means);
});

test('the region of the bucket is named where the answer has it', () => {
  const described = (more: object) => describeStoreError(readS3Error(answer('PermanentRedirect', 301, more)));
  expect(described({ Region: 'eu-west-1' })).toBe(
    'HTTP 301 PermanentRedirect; the region of the bucket is eu-west-1',
  );
  expect(described({ $response: { headers: { 'x-amz-bucket-region': 'eu-west-1' } } })).toContain(
    'eu-west-1',
  );
  expect(described({ Region: '<script>' })).toBe('HTTP 301 PermanentRedirect');
});

test('no text of an endpoint is reported, neither as message nor as code', () => {
  const described = describeStoreError(
    readS3Error(answer('Look at http://evil', 403, { message: 'at http://evil' })),
  );
  expect(described).toBe('HTTP 403 Error');
});

test('the code of the connection is reported in place of a name that says nothing', () => {
  expect(describeStoreError(readS3Error(Object.assign(new Error('x'), { code: 'ECONNREFUSED' })))).toBe(
    'ECONNREFUSED',
  );
  const wrapped = new Error('x', { cause: Object.assign(new Error('y'), { code: 'CERT_UNTRUSTED' }) });
  expect(readS3Error(wrapped).means).toBe('S3CertificateUntrusted');
});

test.each([undefined, null, 'text', 7, {}])('%p, which is no error, is tried again', (thrown) => {
  expect(readS3Error(thrown).means).toBe('S3Unavailable');
});

test('of several errors of the connection in one the code is found in the text', () => {
  const both = new Error('connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1');
  expect(describeStoreError(readS3Error(both))).toBe('ECONNREFUSED');
});
