// Where a URI says that a checkpoint, or another folder of a bucket, lies.

import { parseClaimUri, splitGgufPath } from '@llmservice/checkpoint';
import { parseHubUri } from '@llmservice/checkpoint/hub';
import { parseListUri } from '@llmservice/checkpoint/list';
import { parseOciUri } from '@llmservice/checkpoint/oci';
import type { BucketLocation, CheckpointLocation } from '../domain/wanted-service.js';

/** `s3://bucket/prefix`, with or without the last slash, or a file in it, `hf://owner/name`, `oci://registry/repository:tag`, `https://host/list.json`, `pvc://claim/folder`; `gs://` as `s3://`. */
export function parseCheckpointUri(uri: string): CheckpointLocation | null {
  return (
    parseHubUri(uri) ?? parseOciUri(uri) ?? parseListUri(uri) ?? parseClaimUri(uri) ?? parseBucketUri(uri)
  );
}

/** The same without a file. */
export function parseFolderUri(uri: string): CheckpointLocation | null {
  const location = parseCheckpointUri(uri);
  return location?.file === null ? location : null;
}

/** A folder that can be written to. */
export function parseBucketFolderUri(uri: string): BucketLocation | null {
  const location = parseBucketUri(uri);
  return location?.file === null && location.google === undefined ? location : null;
}

function parseBucketUri(uri: string): BucketLocation | null {
  const match = /^(s3|gs):\/\/([A-Za-z0-9][A-Za-z0-9._-]*)(?:\/([^?#\s]*))?$/.exec(uri);
  if (match === null) return null;
  const [, scheme, bucket = '', path = ''] = match;
  const google = scheme === 'gs' ? ({ google: true } as const) : {};
  const gguf = splitGgufPath(path);
  if (gguf !== null) return { bucket, prefix: gguf.folder, file: gguf.file, ...google };
  const prefix = path.replace(/\/+$/, '');
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/`, file: null, ...google };
}
