// model.uri: s3://bucket/prefix/, file:///path or an absolute path, as one typed value.

import { FailureError } from '@llmservice/crds';
import { createHash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';

export type CheckpointUri =
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string }
  | { readonly kind: 'folder'; readonly dir: string };

/** @throws FailureError InvalidEngineConfig */
export function parseCheckpointUri(uri: string): CheckpointUri {
  const s3 = /^s3:\/\/([^/]+)\/?(.*)$/.exec(uri);
  if (s3 !== null) return { kind: 's3', bucket: s3[1] ?? '', prefix: s3[2] ?? '' };
  if (uri.startsWith('file://')) {
    try {
      return { kind: 'folder', dir: fileURLToPath(uri) };
    } catch (error) {
      throw invalid(uri, (error as Error).message);
    }
  }
  if (isAbsolute(uri)) return { kind: 'folder', dir: uri };
  throw invalid(uri, 'expected s3://bucket/prefix/, file:///path or an absolute path');
}

/** A folder name for the pulled copy: readable, and different for every URI. */
export function checkpointFolderName(uri: string): string {
  const last = uri.split('/').filter(Boolean).at(-1) ?? 'model';
  const hash = createHash('sha256').update(uri).digest('hex').slice(0, 8);
  return `${last.replace(/[^\w.-]/g, '_')}-${hash}`;
}

function invalid(uri: string, problem: string): FailureError {
  return new FailureError('InvalidEngineConfig', `model.uri ${JSON.stringify(uri)}: ${problem}`);
}
