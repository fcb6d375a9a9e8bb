// Which checkpoints an administrator may load: those under the URIs that the settings name. A process reads more than
// checkpoints, such as mounted Secrets, and its credentials for S3 may open more than one bucket.

import { FailureError } from '@llmservice/crds';
import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { listUri } from '@llmservice/checkpoint/list';
import { parseCheckpointUri } from './checkpoint-uri.js';
import { isUnder } from './linked-files.js';

/**
 * The URI to load, a folder's with its links followed; null: it is under none of those that are allowed.
 * @param allowed folders and prefixes, with all that is below them, and .gguf files
 * @throws FailureError InvalidEngineConfig when it is no URI of a checkpoint; ModelNotFound when an allowed folder is not there
 */
export async function allowedUri(uri: string, allowed: readonly string[]): Promise<string | null> {
  const asked = placeOf(uri);
  const real = await followed(asked);
  const roots = allowed.map(placeOf);
  const realRoots = await Promise.all(roots.map(async (root) => (await followed(root)) ?? root));
  if (real !== null) return realRoots.some((root) => isUnder(real, root)) ? real : null;
  // Whether a folder is there is reported of allowed ones alone.
  if (!roots.some((root) => isUnder(asked, root))) return null;
  throw new FailureError('ModelNotFound', `${asked}: there is no such folder`);
}

/** Folders among the URIs, with links followed; those that are not there are none. */
export async function allowedFolders(allowed: readonly string[]): Promise<string[]> {
  const folders = allowed.map(placeOf).filter((place) => place.startsWith('/') && !place.endsWith('.gguf'));
  return (await Promise.all(folders.map(followed))).filter((folder) => folder !== null);
}

/** In a form in which what is below a place begins with it. */
function placeOf(text: string): string {
  const uri = parseCheckpointUri('model.uri', text);
  if (uri.kind === 'folder') return resolve(uri.dir, uri.file ?? '');
  if (uri.kind === 'hub') {
    const { repository, revision, folder } = uri.place;
    return `hf://${repository}@${encodeURIComponent(revision)}/${folder}${uri.file ?? ''}`;
  }
  if (uri.kind === 'oci') {
    const { registry, repository, reference, folder } = uri.place;
    return `oci://${registry}/${repository}@${reference}/${folder}${uri.file ?? ''}`;
  }
  if (uri.kind === 'list') return `${listUri(uri.place)}${uri.file ?? ''}`;
  return `${uri.google ? 'gs' : 's3'}://${join(uri.bucket, '/')}${uri.prefix}${uri.file ?? ''}`;
}

/** Null: it is not there. Places in buckets have no links. */
async function followed(place: string): Promise<string | null> {
  return place.startsWith('/') ? realpath(place).catch(() => null) : place;
}
