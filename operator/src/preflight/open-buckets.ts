// The folders of one service's checkpoints in its buckets, once what is given for reaching these is known. They share one
// client with the service's own credentials, for one preflight.

import http from 'node:http';
import https from 'node:https';
import { rootCertificates } from 'node:tls';
import { S3Client } from '@aws-sdk/client-s3';
import { S3ByteSource } from '@llmservice/checkpoint/s3';
import type { CheckpointLocation } from '../domain/wanted-service.js';
import type { S3Access } from '../resource/s3-access.js';
import type { Lookup } from './address-guard.js';
import { boundAnswers, pageFiles } from './bound-answers.js';
import { BoundedFiles } from './bounded-files.js';
import type { OpenFolders } from './judge-checkpoint.js';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** By what the bucket is reached, in addition to where it is. */
export interface Connection {
  /** Null: requests are not signed. */
  readonly credentials: S3Credentials | null;
  /** In PEM, in addition to those that everybody trusts. */
  readonly certificates: string | null;
  readonly lookup: Lookup;
}

/** A folder with more than 10,000 files is no checkpoint's. */
const maxPages = 40;

export function openBuckets(access: S3Access, connection: Connection): OpenFolders {
  const client = makeClient(access, connection);
  const closing = new AbortController();
  const { signal } = closing;
  return {
    at: ({ bucket, prefix }: CheckpointLocation) =>
      new BoundedFiles(new S3ByteSource(client, bucket, prefix, { pageFiles, maxPages, signal }), signal),
    /** Ends what is being read. */
    close: () => {
      closing.abort();
      client.destroy();
    },
  };
}

function makeClient(access: S3Access, { credentials, certificates, lookup }: Connection): S3Client {
  // A connection is made to an address that this look-up gave, and to no other.
  const agentOptions = { keepAlive: true, lookup };
  const client = new S3Client({
    ...(access.endpoint === null ? {} : { endpoint: access.endpoint }),
    region: access.region,
    forcePathStyle: access.forcePathStyle,
    // Without credentials of the service requests go unsigned: the SDK's search for ambient ones must never start.
    ...(credentials === null
      ? {
          credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
          signer: { sign: (request) => Promise.resolve(request) },
        }
      : { credentials }),
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: 4_000,
      // Without the third the second is but a warning in the log.
      requestTimeout: 10_000,
      throwOnRequestTimeout: true,
      socketTimeout: 10_000,
      httpAgent: new http.Agent(agentOptions),
      httpsAgent: new https.Agent({
        ...agentOptions,
        ...(certificates === null ? {} : { ca: [...rootCertificates, certificates] }),
      }),
    },
  });
  boundAnswers(client);
  return client;
}
