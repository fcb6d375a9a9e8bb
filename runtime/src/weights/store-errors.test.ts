import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { SourceChangedError, UnavailableError } from './checkpoint-source.js';
import { classifyStoreError } from './store-errors.js';

const s3Error = (name: string, status?: number) => ({
  name,
  message: 'as reported',
  ...(status === undefined ? { code: name } : { $metadata: { httpStatusCode: status } }),
});

test.each([
  ['NoSuchBucket', 404, 'BucketNotFound'],
  ['AccessDenied', 403, 'S3AccessDenied'],
  ['InvalidAccessKeyId', 403, 'S3AccessDenied'],
  ['SignatureDoesNotMatch', 403, 'S3AccessDenied'],
  ['ExpiredToken', 400, 'S3AccessDenied'],
  ['Unknown', 400, 'S3AccessDenied'],
  ['TokenRefreshRequired', 400, 'S3AccessDenied'],
  ['PermanentRedirect', 301, 'S3RegionMismatch'],
])('%s (%i) ends the pull as %s', (name, status, reason) => {
  const error = classifyStoreError('s3', s3Error(name, status), 'list s3://b/');
  expect(error).toBeInstanceOf(FailureError);
  expect((error as FailureError).reason).toBe(reason);
  expect(error.message).toContain('list s3://b/');
});

test.each([
  ['ECONNREFUSED', undefined],
  ['ENOTFOUND', undefined],
  ['TimeoutError', undefined],
  ['SlowDown', 503],
  ['InternalError', 500],
  ['RequestTimeTooSkewed', 403],
])('%s is tried again', (name, status) => {
  expect(classifyStoreError('s3', s3Error(name, status), 'read')).toBeInstanceOf(UnavailableError);
});

test.each([
  ['PreconditionFailed', 412],
  ['NoSuchKey', 404],
  ['InvalidRange', 416],
])('%s means that the files changed', (name, status) => {
  expect(classifyStoreError('s3', s3Error(name, status), 'read')).toBeInstanceOf(SourceChangedError);
});
