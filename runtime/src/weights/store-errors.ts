// What an error of a store means for a pull, by the table that the operator reads too: give up with a typed reason, look
// again, or try again later.

import { describeStoreError, FailureError, failureKinds, stores, type StoreKind } from '@llmservice/crds';
import { SourceChangedError, UnavailableError } from './checkpoint-source.js';

/** @param what the request in words, for the message, such as "list s3://bucket/prefix/" */
export function classifyStoreError(
  store: StoreKind,
  error: unknown,
  what: string,
): FailureError | SourceChangedError | UnavailableError {
  if (error instanceof SourceChangedError || error instanceof UnavailableError) return error;
  const reading = stores[store].readError(error);
  const { means } = reading;
  const words = error instanceof Error ? error.message : '';
  const message = `${what}: ${describeStoreError(reading)}${words === '' ? '' : `: ${words}`}`;
  const options = { cause: error };
  // 416: without an ETag to ask for, nothing else shows an object that has become shorter.
  if (means === 'objectAbsent' || means === 'objectChanged') return new SourceChangedError(message, options);
  return failureKinds[means].terminal
    ? new FailureError(means, message, undefined, options)
    : new UnavailableError(store, message, options);
}
