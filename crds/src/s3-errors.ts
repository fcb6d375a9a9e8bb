// What every error of an S3 client means, in one table that the operator and the runtime read alike: codes as AWS lists
// them (https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html), those of other servers, HTTP statuses of
// answers without a code that is known, and errors of the connection.

import type { FailureReason } from './failures.js';

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

export interface S3ErrorRow {
  readonly means: S3Meaning;
  /** What happened, for the page. */
  readonly what: string;
  readonly codes: readonly string[];
  /** Of answers whose code no row has: those to HEAD have no body and so no code. */
  readonly statuses?: readonly number[];
  /** The row counts only where the message is like this. */
  readonly like?: RegExp;
  /** Remedy, where that of the reason does not say it. */
  readonly hint?: string;
}

/** The first row that has an error's code counts, else the first that has its status, else it is S3Unavailable. */
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
    ],
    statuses: [401, 403],
  },
  {
    means: 'S3CertificateUntrusted',
    what: 'the certificate is from an unknown authority, or for another host',
    codes: [
      ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
      ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'CERT_UNTRUSTED', 'INVALID_CA'],
      // An authority that was made anew under its old name, and chains that none may sign.
      ...['CERT_SIGNATURE_FAILURE', 'CERT_CHAIN_TOO_LONG', 'PATH_LENGTH_EXCEEDED', 'INVALID_PURPOSE'],
      ...['CERT_REJECTED', 'CERT_REVOKED', 'UNABLE_TO_DECRYPT_CERT_SIGNATURE'],
      ...['UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY'],
      ...['ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH'],
    ],
  },
  {
    means: 'S3Unavailable',
    what: 'the certificate is expired, or not valid yet',
    codes: ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'],
    hint: 'renew the certificate of the endpoint, or set the clock of this machine',
  },
  {
    means: 'S3Unavailable',
    what: 'one side speaks TLS and the other does not',
    codes: ['EPROTO', 'HPE_INVALID_CONSTANT', 'ERR_SSL_WRONG_VERSION_NUMBER'],
    hint: 'spec.model.s3.endpoint says http:// where it must say https://, or the reverse',
  },
  {
    means: 'S3Unavailable',
    what: 'the host has no address',
    // A headless Service without pods has none either: it may come back.
    codes: ['ENOTFOUND', 'EAI_AGAIN'],
    hint: 'the host of spec.model.s3.endpoint has no address',
  },
  {
    means: 'S3Unavailable',
    what: 'the server or the network is unreachable or busy',
    codes: [
      ...['SlowDown', 'ServiceUnavailable', 'InternalError', 'RequestTimeout', 'OperationAborted'],
      ...['Throttling', 'ThrottlingException', 'TooManyRequests', 'RequestLimitExceeded'],
      ...['BandwidthLimitExceeded', 'Busy', 'TemporaryRedirect'],
      ...['TimeoutError', 'ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EPIPE'],
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

export interface S3ErrorReading {
  readonly means: S3Meaning;
  /** Of the answer or the connection; never a free text of the server's. */
  readonly code: string;
  /** Null: there was no answer. */
  readonly status: number | null;
  readonly hint: string | null;
}

/** What the SDK throws: its own errors and those of Node. */
interface S3ErrorShape {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly Region?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string | undefined>> };
}

export function readS3Error(error: unknown): S3ErrorReading {
  const shape = shapeOf(error);
  const status = shape.$metadata?.httpStatusCode ?? null;
  const message = typeof shape.message === 'string' ? shape.message : '';
  const named = [shape.name, shape.code, shapeOf(shape.cause).code].filter(isCode);
  const codes = status === null ? [...named, ...connectionCodes(message)] : named;
  const row = rowOf(codes, status, message);
  // A bare 400 is all that the answer to HEAD says of a session that expired.
  const isBare = status === 400 && codes.some((code) => code.startsWith('Unknown') || code === '400');
  const means = row?.means ?? (isBare ? 'S3AccessDenied' : 'S3Unavailable');
  const hint = means === 'S3RegionMismatch' ? regionHint(shape) : (row?.hint ?? null);
  // A name such as Error says less than the code beside it.
  const code = codes.find((each) => row?.codes.includes(each)) ?? codes.at(-1) ?? 'Error';
  return { means, code, status, hint };
}

/** `HTTP 403 AccessDenied`, `ECONNREFUSED`, with the remedy. */
export function describeS3Error({ code, status, hint }: S3ErrorReading): string {
  const answer = status === null ? code : `HTTP ${String(status)} ${code}`;
  return hint === null ? answer : `${answer}; ${hint}`;
}

/** Where nobody has answered the text is Node's: of several errors in one, the text alone has their codes. */
function connectionCodes(message: string): string[] {
  const words = new Set(message.match(/\b[A-Z][A-Z_]+\b/g));
  return s3ErrorTable.flatMap(({ codes }) => codes.filter((code) => words.has(code)));
}

function rowOf(codes: readonly string[], status: number | null, message: string): S3ErrorRow | undefined {
  const fits = ({ like }: S3ErrorRow): boolean => like?.test(message) ?? true;
  return (
    s3ErrorTable.find((row) => codes.some((code) => row.codes.includes(code)) && fits(row)) ??
    s3ErrorTable.find((row) => status !== null && row.statuses?.includes(status))
  );
}

/** S3 sends the bucket's own region in its answer, and to HEAD in a header. */
function regionHint({ Region, $response }: S3ErrorShape): string | null {
  const region = Region ?? $response?.headers?.['x-amz-bucket-region'];
  return typeof region === 'string' && /^[a-z0-9-]{1,32}$/.test(region)
    ? `the region of the bucket is ${region}`
    : null;
}

function shapeOf(value: unknown): S3ErrorShape {
  return typeof value === 'object' && value !== null ? value : {};
}

/** What an endpoint calls a code may be any text. */
function isCode(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_.]{1,64}$/.test(value);
}
