// The folder of a mounted claim or image that a URI names. Whoever fills it may leave links in it: those that lead out of it
// are followed no more than those of files are.

import { FailureError } from '@llmservice/crds';
import { readdir, realpath } from 'node:fs/promises';
import { relative } from 'node:path';
import { isUnder } from './linked-files.js';

/** What a checkpoint is mounted with. */
export interface Mounted {
  /** In messages: `claim` or `image`. */
  readonly kind: string;
  readonly name: string;
  /** Where it is mounted. */
  readonly root: string;
  /** @param folder empty, or ends with a slash */
  readonly uriOf: (folder: string) => string;
}

/** Of folders, in a message. */
const maxNames = 10;

/**
 * Its URI, once it is known to be there.
 * @throws FailureError ModelNotFound
 */
export async function mountedFolder(dir: string, place: Mounted): Promise<string> {
  const { kind, name, root, uriOf } = place;
  const folder = relative(root, dir);
  const uri = uriOf(folder === '' ? '' : `${folder}/`);
  const mounted = await realpath(root).catch((cause: unknown) => {
    const message = `${uri}: the ${kind} ${name} is not mounted here; pods mount the one that spec.model.uri names`;
    throw notFound(message, cause);
  });
  const real = await realpath(dir).catch(async (cause: unknown) => {
    throw notFound(`${uri}: ${await problemWith(cause, place)}`, cause);
  });
  if (!isUnder(real, mounted))
    throw notFound(`${uri} is a link that leads out of the ${kind}, which is not read`);
  return uri;
}

/** In words, with the user that has to be let in, or with what there is instead. */
async function problemWith(error: unknown, { kind, root }: Mounted): Promise<string> {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EACCES') return mayNotRead();
  const names = await readdir(root).catch(() => []);
  const some = names.sort().slice(0, maxNames).join(', ');
  const more = names.length > maxNames ? ` and ${String(names.length - maxNames)} more` : '';
  return `the ${kind} has no such folder; at its top ${names.length === 0 ? 'is nothing' : `are ${some}${more}`}`;
}

/** What a file system says of permissions, as what to do. */
export function mayNotRead(): string {
  const user = String(process.getuid?.() ?? 'of this process');
  return `the user ${user} may not read it: let everybody read it, or a group of spec.supplementalGroups`;
}

function notFound(message: string, cause?: unknown): FailureError {
  return new FailureError('ModelNotFound', message, undefined, { cause });
}
