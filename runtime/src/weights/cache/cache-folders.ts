// How a cache lies on the disk: ROOT/entries/NAME/ with the files of one checkpoint, and ROOT/locks/NAME.use, whose time
// is that of the last use, ROOT/locks/NAME.pull and ROOT/locks/room. Locks stay: one that is gone excludes nobody.

import { existsSync, mkdirSync, statSync, utimesSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FileLock } from './file-lock.js';
import { removeManifest } from './manifest.js';

export class CacheFolders {
  /** Held while room is made, or a file of one entry is put into another. */
  readonly roomLock: string;

  constructor(readonly root: string) {
    this.roomLock = join(root, 'locks', 'room');
  }

  make(): void {
    mkdirSync(this.root, { recursive: true });
    for (const folder of ['entries', 'locks']) {
      const path = join(this.root, folder);
      // Where the volume is read-only, Node's way to make a folder only if it is missing does not tell so.
      if (!existsSync(path)) mkdirOnce(path);
    }
  }

  dir(name: string): string {
    return join(this.root, 'entries', name);
  }

  /** Shared by all who read or pull the entry. */
  useLock(name: string): string {
    return join(this.root, 'locks', `${name}.use`);
  }

  /** Held by who pulls it. */
  pullLock(name: string): string {
    return join(this.root, 'locks', `${name}.pull`);
  }

  names(): Promise<string[]> {
    return readdir(join(this.root, 'entries'));
  }

  used(name: string, at: Date): void {
    utimesSync(this.useLock(name), at, at);
  }

  /** Names of the entries, the one that was used longest ago first. */
  async byLastUse(): Promise<string[]> {
    const entries = (await this.names()).map((name) => ({ name, at: this.lastUse(name) }));
    return entries.sort((a, b) => a.at - b.at).map(({ name }) => name);
  }

  /** False: someone uses the entry. */
  async remove(name: string): Promise<boolean> {
    const lock = FileLock.take(this.useLock(name), 'exclusive');
    if (lock === null) return false;
    try {
      // First of all: what is left by a process that ends here must not be taken for complete.
      await removeManifest(this.dir(name));
      await rm(this.dir(name), { recursive: true, force: true });
      return true;
    } finally {
      lock.release();
    }
  }

  isUsed(name: string): boolean {
    const lock = FileLock.take(this.useLock(name), 'exclusive');
    lock?.release();
    return lock === null;
  }

  /** Bytes of the entries: `whole` once all is there, of which `present` are on the disk. A file of several counts once. */
  async sizes(names: readonly string[]): Promise<{ whole: number; present: number }> {
    const files = new Map<number, { whole: number; present: number }>();
    for (const name of names) {
      const dir = this.dir(name);
      for (const file of await readdir(dir).catch(() => [])) {
        const stats = await stat(join(dir, file)).catch(() => null);
        if (stats !== null)
          files.set(stats.ino, { whole: stats.size, present: Math.min(stats.size, stats.blocks * 512) });
      }
    }
    const total = { whole: 0, present: 0 };
    for (const { whole, present } of files.values()) {
      total.whole += whole;
      total.present += present;
    }
    return total;
  }

  private lastUse(name: string): number {
    return statSync(this.useLock(name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }
}

/** Another process may have made it just now. */
function mkdirOnce(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
