// What an error of the S3 client means for a pull: give up with a typed reason, look again, or try again later.

import { FailureError } from '@llmservice/crds';
import { SourceChangedError, UnavailableError } from './checkpoint-source.js';

interface S3ErrorShape {
  readonly name?: string;
  readonly code?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const wrongRegion = new Set([
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
]);

// Not every S3 server answers these with 401 or 403.
const accessDenied = new Set([
  'AccessDenied',
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'InvalidToken',
  'TokenRefreshRequired',
  // versitygw's word for an unknown key, with 404.
  'XAdminUserNotFound',
]);

/** @param what the request in words, for the message, such as "list s3://bucket/prefix/" */
export function classifyS3Error(
  error: unknown,
  what: string,
): FailureError | SourceChangedError | UnavailableError {
  if (error instanceof SourceChangedError || error instanceof UnavailableError) return error;
  const { name = 'Error', code, message = String(error), $metadata } = (error ?? {}) as S3ErrorShape;
  const status = $metadata?.httpStatusCode ?? 0;
  const told = `${what}: ${name}${status === 0 ? '' : ` (HTTP ${String(status)})`}: ${message}`;
  const options = { cause: error };

  if (name === 'NoSuchBucket' || name === 'InvalidBucketName') {
    return new FailureError('BucketNotFound', told, undefined, options);
  }
  if (wrongRegion.has(name) || status === 301) {
    return new FailureError(
      'InvalidEngineConfig',
      `${told}; model.s3.region does not fit the bucket`,
      undefined,
      options,
    );
  }
  // From this very answer the client learns the server's time, and signs what comes next with it.
  if (name === 'RequestTimeTooSkewed') return new UnavailableError(told, options);
  // An answer to HEAD has no body: a bare 400 is all that it tells of a session that expired.
  const isBare = name === 'Unknown' && status === 400;
  if (status === 401 || status === 403 || isBare || accessDenied.has(name))
    return new FailureError('S3AccessDenied', told, undefined, options);
  // 416: without an ETag to ask for, nothing else tells of an object that has become shorter.
  if (status === 404 || status === 412 || status === 416) return new SourceChangedError(told, options);
  return new UnavailableError(code === undefined ? told : `${told} [${code}]`, options);
}
