// An error of the S3 client as a failure of the service, by the table that the runtime reads too.

import { describeS3Error, FailureError, readS3Error } from '@llmservice/crds';

/** The object is not there, which may be as it should be. */
export function isAbsent(error: unknown): boolean {
  return readS3Error(error).means === 'objectAbsent';
}

/** Without permission to list, this is what S3 answers for an object that does not exist. */
export function mayBeAbsent(error: unknown): boolean {
  const { status, code } = readS3Error(error);
  return status === 403 && code === 'AccessDenied';
}

/**
 * Any error of a request for `file` of a folder, or for its list where that is empty. An endpoint is of its tenant's
 * choice: of what it answers no more than a code is shown.
 */
export function toFailure(error: unknown, folder: string, file: string): FailureError {
  if (error instanceof FailureError) return error;
  const { cause } = error as Error;
  if (cause instanceof FailureError) return cause;
  const reading = readS3Error(error);
  const message = `reading ${folder}${file} failed: ${describeS3Error(reading)}`;
  return new FailureError(reasonOf(reading.means, file === ''), message, undefined, { cause: error });
}

function reasonOf(means: ReturnType<typeof readS3Error>['means'], isList: boolean): FailureError['reason'] {
  if (means === 'objectAbsent') return isList ? 'BucketNotFound' : 'S3Unavailable';
  // It is read again from its start, as it is then.
  return means === 'objectChanged' ? 'S3Unavailable' : means;
}
