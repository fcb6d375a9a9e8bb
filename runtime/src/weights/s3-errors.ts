// What an error of the S3 client means for a pull, by the table that the operator reads too: give up with a typed reason,
// look again, or try again later.

import { describeS3Error, FailureError, failureKinds, readS3Error } from '@llmservice/crds';
import { SourceChangedError, UnavailableError } from './checkpoint-source.js';

/** @param what the request in words, for the message, such as "list s3://bucket/prefix/" */
export function classifyS3Error(
  error: unknown,
  what: string,
): FailureError | SourceChangedError | UnavailableError {
  if (error instanceof SourceChangedError || error instanceof UnavailableError) return error;
  const reading = readS3Error(error);
  const { means } = reading;
  const words = error instanceof Error ? error.message : '';
  const message = `${what}: ${describeS3Error(reading)}${words === '' ? '' : `: ${words}`}`;
  const options = { cause: error };
  // 416: without an ETag to ask for, nothing else shows an object that has become shorter.
  if (means === 'objectAbsent' || means === 'objectChanged') return new SourceChangedError(message, options);
  return failureKinds[means].terminal
    ? new FailureError(means, message, undefined, options)
    : new UnavailableError(message, options);
}
