// The S3 client of the pull, of the request log and of stored responses.

import { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { Agent } from 'node:https';
import { rootCertificates } from 'node:tls';

export interface S3Settings {
  /** Null: AWS's own endpoint of the region. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly forcePathStyle: boolean;
  /** Null: requests are not signed (public buckets). */
  readonly credentials: S3Credentials | null;
  /** PEM certificates to trust besides the system's roots. */
  readonly caCertificates: readonly string[];
}

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const connectionTimeoutMs = 5_000;
const firstByteTimeoutMs = 30_000;

/** @param maxAttempts of one request: the pull has its own retries, which never end and are reported */
export function makeS3Client(settings: S3Settings, maxAttempts = 1): S3Client {
  const ca =
    settings.caCertificates.length === 0 ? {} : { ca: [...rootCertificates, ...settings.caCertificates] };
  return new S3Client({
    ...(settings.endpoint === null ? {} : { endpoint: settings.endpoint }),
    region: settings.region,
    forcePathStyle: settings.forcePathStyle,
    maxAttempts,
    // Whole-object checksums are compared after the pull; ranges carry none.
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: new NodeHttpHandler({
      connectionTimeout: connectionTimeoutMs,
      requestTimeout: firstByteTimeoutMs,
      throwOnRequestTimeout: true,
      httpsAgent: new Agent({ keepAlive: true, ...ca }),
    }),
    ...(settings.credentials === null
      ? // The SDK would look for ambient credentials; a pull uses those it was given, or none.
        {
          credentials: { accessKeyId: '', secretAccessKey: '' },
          signer: { sign: (request) => Promise.resolve(request) },
        }
      : { credentials: settings.credentials }),
  });
}
