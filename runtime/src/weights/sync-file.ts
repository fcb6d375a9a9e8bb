// Files that are on the disk for good: what is written alone may be lost with the machine.

import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { openPlain } from './plain-file.js';

export async function syncFile(path: string): Promise<void> {
  await sync(await openPlain(path, constants.O_RDONLY));
}

/** The names in it. */
export async function syncFolder(path: string): Promise<void> {
  await sync(await open(path, 'r'));
}

async function sync(handle: FileHandle): Promise<void> {
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
