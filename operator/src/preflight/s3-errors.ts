// What an error of the S3 client means for the service: its own mistake (terminal), or a matter of waiting.

import { FailureError } from '@llmservice/crds';
import type { CheckpointLocation } from '../spec/parse-spec.js';

interface SdkError {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly cause?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** The object is not there, which may be as it should be. */
export function isAbsent(error: unknown): boolean {
  const { name, $metadata } = error as SdkError;
  return (
    name === 'NoSuchKey' ||
    name === 'NotFound' ||
    ($metadata?.httpStatusCode === 404 && name !== 'NoSuchBucket')
  );
}

export function isDenied(error: unknown): boolean {
  const { name, $metadata } = error as SdkError;
  const status = $metadata?.httpStatusCode;
  return (
    status === 403 || status === 401 || name === 'InvalidAccessKeyId' || name === 'SignatureDoesNotMatch'
  );
}

/** Any error of a request for `file`, as a failure with a reason. */
export function toFailure(
  error: unknown,
  { bucket, prefix }: CheckpointLocation,
  file: string,
): FailureError {
  if (error instanceof FailureError) return error;
  const { name = 'Error', message = '', code, cause, $metadata } = error as SdkError;
  if (cause instanceof FailureError) return cause;
  const object = `s3://${bucket}/${prefix}${file}`;
  const options = { cause: error };
  if (name === 'NoSuchBucket') {
    return new FailureError('BucketNotFound', `there is no bucket ${bucket}`, undefined, options);
  }
  if (isDenied(error)) {
    return new FailureError(
      'S3AccessDenied',
      `reading ${object} was refused: ${name}: ${message}`,
      undefined,
      options,
    );
  }
  const status = $metadata?.httpStatusCode;
  const answer = status === undefined ? (code ?? name) : `HTTP ${status} ${name}`;
  return new FailureError(
    'S3Unavailable',
    `reading ${object} failed: ${answer}: ${message}`,
    undefined,
    options,
  );
}
