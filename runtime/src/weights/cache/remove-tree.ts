// Removes a folder with all in it. Each folder is opened before it is emptied, so that a link that takes its place
// meanwhile leads nowhere: what is removed lies below the parent.

import type { HeldFolder } from '@llmservice/crds/held-folder';
import { readdir, rmdir, unlink } from 'node:fs/promises';

/** Entries are flat: what lies deeper is nobody's. */
const maxLevels = 16;

/** A link itself is removed, as a file is. Where there is nothing of the name, nothing happens. */
export async function removeTree(parent: HeldFolder, name: string, levels = maxLevels): Promise<void> {
  const path = `${parent.at}/${name}`;
  if (await isRemoved(path)) return;
  if (levels === 0) throw new Error(`${parent.path}/${name} is nested too deep to be removed`);
  const folder = parent.find(name);
  try {
    for (const each of await readdir(folder.at)) await removeTree(folder, each, levels - 1);
  } finally {
    folder.close();
  }
  await rmdir(path);
}

/** False: it is a folder. */
async function isRemoved(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return true;
    if (code === 'EISDIR' || code === 'EPERM') return false;
    throw error;
  }
}
