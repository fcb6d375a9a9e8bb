// Where a URI says that a checkpoint, or another folder of a bucket, lies.

import { splitGgufPath } from '@llmservice/checkpoint';
import type { CheckpointLocation } from '../domain/wanted-service.js';

/** `s3://bucket/prefix`, with or without the last slash, or `s3://bucket/prefix/name.gguf`. */
export function parseCheckpointUri(uri: string): CheckpointLocation | null {
  const match = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]*)(?:\/([^?#\s]*))?$/.exec(uri);
  if (match === null) return null;
  const bucket = match[1] ?? '';
  const gguf = splitGgufPath(match[2] ?? '');
  if (gguf !== null) return { bucket, prefix: gguf.folder, file: gguf.file };
  const prefix = (match[2] ?? '').replace(/\/+$/, '');
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/`, file: null };
}

/** The same without a file. */
export function parseFolderUri(uri: string): CheckpointLocation | null {
  const location = parseCheckpointUri(uri);
  return location?.file === null ? location : null;
}
