// The stores that checkpoints are read from, and what each calls the failures that all of them have.

import type { FailureReason } from './failures.js';
import { readHubError } from './hub-errors.js';
import { readListError } from './list-errors.js';
import { readOciError } from './oci-errors.js';
import { readS3Error } from './s3-errors.js';
import type { StoreErrorReading } from './store-errors.js';

export type StoreKind = 's3' | 'hub' | 'oci' | 'list';

interface Store {
  readonly readError: (error: unknown) => StoreErrorReading<FailureReason | 'objectAbsent' | 'objectChanged'>;
  /** The place that was to be listed is not there. */
  readonly absent: FailureReason;
  readonly unavailable: FailureReason;
  /** It gives whole files for parts of them. */
  readonly withoutRanges: FailureReason;
  /** In words, for messages. */
  readonly words: string;
}

export const stores: Readonly<Record<StoreKind, Store>> = {
  s3: {
    readError: readS3Error,
    absent: 'BucketNotFound',
    unavailable: 'S3Unavailable',
    withoutRanges: 'S3Unavailable',
    words: 'S3',
  },
  hub: {
    readError: readHubError,
    absent: 'ModelNotFound',
    unavailable: 'HubUnavailable',
    withoutRanges: 'HubUnavailable',
    words: 'the hub',
  },
  oci: {
    readError: readOciError,
    absent: 'ArtifactNotFound',
    unavailable: 'RegistryUnavailable',
    withoutRanges: 'RegistryUnavailable',
    words: 'the registry',
  },
  list: {
    readError: readListError,
    absent: 'ListNotFound',
    unavailable: 'ListUnavailable',
    withoutRanges: 'ListUnsupported',
    words: 'the server of the list',
  },
};

/** A store does not answer: nothing is known of what lies in it. */
export function isStoreAway(reason: FailureReason): boolean {
  return Object.values(stores).some(({ unavailable }) => unavailable === reason);
}
