// Files that are on the disk for good: what is written alone may be lost with the machine.

import { open } from 'node:fs/promises';

/** Of a folder: the names in it. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
