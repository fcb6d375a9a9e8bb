// Settings of what is kept of requests and answers: responses that clients come back for, the accounting log, the request log.

import { readBoolean } from '@llmservice/crds';
import { atLeast, defineFor, mib } from './server-setting.js';

export interface KeepingSettings {
  /** For responses that clients come back for; null: none is stored. */
  readonly storedResponsesBytes: number | null;
  /** Where they are stored; null: in memory. */
  readonly storedResponsesUri: ObjectFolder | null;
  readonly storedResponsesCount: number;
  readonly storedResponsesSeconds: number;
  /** For files of batches; null: no files are kept, and no batches run. */
  readonly batchesBytes: number | null;
  /** Where they are stored; null: in memory. */
  readonly batchesUri: ObjectFolder | null;
  readonly batchesFileBytes: number;
  readonly batchesSeconds: number;
  /** Requests of batches that are answered at once; null: half of those that run at once. */
  readonly batchesConcurrent: number | null;
  /** A file of the accounting log that has reached it is followed by another. */
  readonly accountingFileBytes: number;
  /** Where requests are logged as JSON lines; null: nowhere. */
  readonly requestLog: ObjectFolder | null;
  /** Whether the request log has prompts and answers too. */
  readonly requestLogText: boolean;
}

/** A place in a bucket; `prefix` is empty or ends in a slash. */
export interface ObjectFolder {
  readonly bucket: string;
  readonly prefix: string;
}

const define = defineFor<KeepingSettings>();

export const keepingSettings = [
  define(
    'storedResponsesBytes',
    '--stored-responses-bytes',
    'BYTES',
    'room for responses of /v1/responses that clients continue or fetch later; without it, none is stored',
    null,
    atLeast(mib),
  ),
  define(
    'storedResponsesUri',
    '--stored-responses-uri',
    's3://BUCKET/PREFIX/',
    'where responses are stored, in the S3 that the checkpoint is in; without it, in memory',
    null,
    asObjectFolder,
  ),
  define(
    'storedResponsesCount',
    '--stored-responses-count',
    'N',
    'responses that are stored at once',
    10_000,
    atLeast(1),
  ),
  define(
    'storedResponsesSeconds',
    '--stored-responses-seconds',
    'SECONDS',
    'time after which a stored response is deleted',
    86_400,
    atLeast(1),
  ),
  define(
    'batchesBytes',
    '--batches-bytes',
    'BYTES',
    'room for files of /v1/files; without it, no files are kept and no batches run',
    null,
    atLeast(mib),
  ),
  define(
    'batchesUri',
    '--batches-uri',
    's3://BUCKET/PREFIX/',
    'where files and batches are stored, in the S3 that the checkpoint is in; without it, in memory',
    null,
    asObjectFolder,
  ),
  define(
    'batchesFileBytes',
    '--batches-file-bytes',
    'BYTES',
    'largest file that is taken',
    200 * mib,
    atLeast(1024),
  ),
  define(
    'batchesSeconds',
    '--batches-seconds',
    'SECONDS',
    'time after which a file or batch is deleted',
    2_592_000,
    atLeast(1),
  ),
  define(
    'batchesConcurrent',
    '--batches-concurrent',
    'N',
    'requests of batches that are answered at once; without it, half of --max-num-seqs',
    null,
    atLeast(1),
  ),
  define(
    'accountingFileBytes',
    '--accounting-file-bytes',
    'BYTES',
    'size at which a file of the accounting log is followed by another',
    64 * mib,
    atLeast(1),
  ),
  define(
    'requestLog',
    '--request-log',
    's3://BUCKET/PREFIX/',
    'gets a JSON line for each request, in the S3 that the checkpoint is in; without it, none is written',
    null,
    asObjectFolder,
  ),
  define(
    'requestLogText',
    '--request-log-text',
    'BOOL',
    'put prompts and answers into the request log',
    false,
    readBoolean,
  ),
] as const;

function asObjectFolder(text: string): ObjectFolder {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(text) ?? [];
  if (bucket === '') throw new Error('expected s3://bucket/prefix/');
  return { bucket, prefix: path === '' || path.endsWith('/') ? path : `${path}/` };
}
