// Files of a local checkpoint that are links. Their content reaches clients (a chat template is rendered for whoever asks),
// so that a link may not lead to whatever else the process can read.

import { FailureError } from '@llmservice/crds';
import { realpath } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';

const read = ['.json', '.jinja', '.safetensors', '.gguf'];

/**
 * Links may stay within the folder, lead to the blobs of a Hugging Face cache whose snapshot it is, or below `roots`.
 * @param names of the folder's files
 * @param roots folders without links in their paths
 * @throws FailureError CheckpointIncomplete, which names the link and not where it leads
 */
export async function refuseLinksOut(
  dir: string,
  names: readonly string[],
  roots: readonly string[],
): Promise<void> {
  const own = await realpath(dir);
  const snapshots = dirname(own);
  const blobs = snapshots.endsWith('/snapshots') ? [join(dirname(snapshots), 'blobs')] : [];
  for (const name of names.filter((each) => read.includes(extname(each)))) {
    const real = await realpath(join(dir, name));
    if ([own, ...blobs, ...roots].some((root) => isUnder(real, root))) continue;
    const message =
      `${join(dir, name)} is a link to a file outside of its folder, which is not read: put the file there, or ` +
      'allow the folder that it lies in (--admin-allowed-uris)';
    throw new FailureError('CheckpointIncomplete', message, { file: name });
  }
}

/** Whether a path, or a place in a bucket, is another or lies below it. */
export function isUnder(place: string, root: string): boolean {
  // Some servers of S3 keep keys as paths.
  if (/\/\.{1,2}(\/|$)/.test(place)) return false;
  return place === root || place.startsWith(root.endsWith('/') ? root : `${root}/`);
}
