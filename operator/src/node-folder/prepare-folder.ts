// Makes a folder of the node that one user may write to, below a folder that root alone may. Runs as root with the
// capability CHOWN and no other, so that it gives away nothing but what it made.

import { FailureError } from '@llmservice/crds';
import { HeldFolder } from '@llmservice/crds/held-folder';

const root = 0;

/**
 * @param top the folder that the operator's administrator allows
 * @param names of the folder below it
 * @param user who gets the last of them; all above it stay root's
 * @param shown what the allowed folder is called on the node, for messages
 * @throws FailureError WeightsCacheUnsafe where a part of the path is a link, or somebody else's
 */
export function prepareFolder(
  top: string,
  names: readonly string[],
  user: number,
  shown: string = top,
): void {
  const held: HeldFolder[] = [];
  const hold = (folder: HeldFolder): HeldFolder => {
    held.push(folder);
    return folder;
  };
  try {
    let folder = hold(HeldFolder.open(top, shown));
    takeBack(folder, user);
    for (const name of names) {
      requireRoots(folder);
      folder = hold(folder.make(name));
    }
    giveTo(folder, user);
  } catch (error) {
    if (error instanceof FailureError) throw error;
    throw new FailureError('WeightsCacheUnsafe', (error as Error).message, undefined, { cause: error });
  } finally {
    for (const folder of held) folder.close();
  }
}

/** Earlier releases gave the allowed folder itself to the user. What lies in it stays the user's, and is used no more. */
function takeBack(folder: HeldFolder, user: number): void {
  if (folder.owner !== user) return;
  folder.chown(root);
  folder.chmod(0o755);
}

/** What others may write to, they may replace by a link. */
function requireRoots(folder: HeldFolder): void {
  const { path, owner, isShared } = folder;
  if (owner === root && !isShared) return;
  const found = isShared ? 'can be written to by others' : `belongs to user ${String(owner)}`;
  const message = `${path} has to be root's alone, but ${found}: chown root:root and chmod 755 it on the node`;
  throw new FailureError('WeightsCacheUnsafe', message);
}

function giveTo(folder: HeldFolder, user: number): void {
  const { path, owner } = folder;
  if (owner === user) return;
  if (owner !== root) {
    const message = `${path} has to be user ${String(user)}'s, but belongs to user ${String(owner)}: remove it on the node`;
    throw new FailureError('WeightsCacheUnsafe', message);
  }
  // While it is still root's: what belongs to another cannot be changed without one more capability.
  folder.chmod(0o700);
  folder.chown(user);
}
