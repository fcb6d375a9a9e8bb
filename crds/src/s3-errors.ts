// What every error of an S3 client means, in one table that the operator and the runtime read alike: codes as AWS lists
// them (https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html), those of other servers, HTTP statuses of
// answers without a code that is known, and errors of the connection.

import type { FailureReason } from './failures.js';
import {
  connectionRows,
  readStoreError,
  type StoreErrorReading,
  type StoreErrorRow,
} from './store-errors.js';

/** A failure of the service, or a word about the one object that was asked for, which only who asked can judge. */
export type S3Meaning =
  | Extract<
      FailureReason,
      | 'BucketNotFound'
      | 'S3RegionMismatch'
      | 'S3AccessDenied'
      | 'S3CertificateUntrusted'
      | 'S3Unavailable'
      | 'CheckpointIncomplete'
    >
  | 'objectAbsent'
  | 'objectChanged';

export type S3ErrorRow = StoreErrorRow<S3Meaning>;

export const s3ErrorTable: readonly S3ErrorRow[] = [
  {
    means: 'BucketNotFound',
    what: 'the bucket does not exist, or its name is not valid',
    codes: ['NoSuchBucket', 'InvalidBucketName'],
  },
  {
    means: 'S3RegionMismatch',
    what: 'the bucket is in another region',
    codes: ['PermanentRedirect', 'IllegalLocationConstraintException'],
    statuses: [301],
  },
  {
    means: 'S3RegionMismatch',
    what: 'the request is signed for another region',
    codes: ['AuthorizationHeaderMalformed'],
    like: /\bregion\b/i,
  },
  {
    means: 'S3Unavailable',
    what: 'the clocks differ by minutes',
    codes: ['RequestTimeTooSkewed', 'RequestExpired', 'RequestInTheFuture'],
    hint: 'the clocks of this machine and of the S3 server differ: synchronize them with NTP',
  },
  {
    means: 'CheckpointIncomplete',
    what: 'the object is archived',
    codes: ['InvalidObjectState'],
    hint: 'restore the object from its archive class first',
  },
  {
    means: 'S3AccessDenied',
    what: 'the session token is expired or not valid',
    codes: ['ExpiredToken', 'ExpiredTokenException', 'InvalidToken', 'TokenRefreshRequired'],
    hint: 'renew AWS_SESSION_TOKEN together with its keys, or leave it out',
  },
  {
    means: 'S3AccessDenied',
    what: 'the keys are wrong, missing or not allowed to read',
    codes: [
      ...['AccessDenied', 'AccountProblem', 'AllAccessDisabled', 'NotSignedUp', 'InvalidPayer'],
      ...['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidSecurity', 'MissingSecurityHeader'],
      ...['AuthorizationHeaderMalformed', 'CredentialsNotSupported', 'UnauthorizedAccess'],
      ...['KMS.DisabledException', 'KMS.NotFoundException', 'CredentialsProviderError'],
      // versitygw's word for an unknown key, with 404.
      'XAdminUserNotFound',
      // Google's, of buckets whose requester pays.
      ...['UserProjectMissing', 'UserProjectAccessDenied'],
    ],
    statuses: [401, 403],
  },
  ...connectionRows<S3Meaning>({
    untrusted: 'S3CertificateUntrusted',
    unavailable: 'S3Unavailable',
    endpoint: 'spec.model.s3.endpoint',
  }),
  {
    means: 'S3Unavailable',
    what: 'the server is busy or fails',
    codes: [
      ...['SlowDown', 'ServiceUnavailable', 'InternalError', 'RequestTimeout', 'OperationAborted'],
      ...['Throttling', 'ThrottlingException', 'TooManyRequests', 'RequestLimitExceeded'],
      ...['BandwidthLimitExceeded', 'Busy', 'TemporaryRedirect', 'TimeoutError'],
    ],
    statuses: [307, 408, 409, 429, 500, 502, 503, 504],
  },
  {
    means: 'objectAbsent',
    what: 'the object does not exist',
    codes: ['NoSuchKey', 'NotFound', 'NoSuchVersion'],
    statuses: [404],
  },
  {
    means: 'objectChanged',
    what: 'the object was replaced after it was listed',
    codes: ['PreconditionFailed', 'InvalidRange'],
    statuses: [412, 416],
  },
];

export type S3ErrorReading = StoreErrorReading<S3Meaning>;

/** Where S3's answers name the region of the bucket. */
interface RegionShape {
  readonly Region?: unknown;
  readonly $response?: { readonly headers?: Readonly<Record<string, string | undefined>> };
}

export function readS3Error(error: unknown): S3ErrorReading {
  const reading = readStoreError(s3ErrorTable, error, (status, codes) =>
    // A bare 400 is all that the answer to HEAD says of a session that expired.
    status === 400 && codes.some((code) => code.startsWith('Unknown') || code === '400')
      ? 'S3AccessDenied'
      : 'S3Unavailable',
  );
  return reading.means === 'S3RegionMismatch'
    ? { ...reading, hint: regionHint(error as RegionShape) }
    : reading;
}

/** S3 sends the bucket's own region in its answer, and to HEAD in a header. */
function regionHint({ Region, $response }: RegionShape): string | null {
  const region = Region ?? $response?.headers?.['x-amz-bucket-region'];
  return typeof region === 'string' && /^[a-z0-9-]{1,32}$/.test(region)
    ? `the region of the bucket is ${region}`
    : null;
}
