// An error of the client of a store as a failure of the service, by the table that the runtime reads too.

import { describeStoreError, FailureError, readS3Error, stores, type StoreKind } from '@llmservice/crds';

/** The object is not there, which may be as it should be. */
export function isAbsent(store: StoreKind, error: unknown): boolean {
  return stores[store].readError(error).means === 'objectAbsent';
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
export function toFailure(store: StoreKind, error: unknown, folder: string, file: string): FailureError {
  if (error instanceof FailureError) return error;
  const { cause } = error as Error;
  if (cause instanceof FailureError) return cause;
  const { readError, absent, unavailable } = stores[store];
  const reading = readError(error);
  const message = `reading ${folder}${file} failed: ${describeStoreError(reading)}`;
  const { means } = reading;
  const options = { cause: error };
  if (means === 'objectAbsent')
    return new FailureError(file === '' ? absent : unavailable, message, undefined, options);
  // What changed is read again from its start, as it is then.
  return new FailureError(means === 'objectChanged' ? unavailable : means, message, undefined, options);
}
