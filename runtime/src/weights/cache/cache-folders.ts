// How a cache lies on the disk: ROOT/entries/NAME/ with the files of one checkpoint, and ROOT/locks/NAME.use, whose time
// is that of the last use, ROOT/locks/NAME.pull and ROOT/locks/room. Locks stay: one that is gone excludes nobody.
// Other pods write here too: folders are held open, and no link below ROOT is followed.

import { HeldFolder } from '@llmservice/crds/held-folder';
import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FileLock } from './file-lock.js';
import { removeManifest } from './manifest.js';
import { removeTree } from './remove-tree.js';

interface Held {
  readonly entries: HeldFolder;
  readonly locks: HeldFolder;
}

export class CacheFolders {
  private held: Held | null = null;

  constructor(readonly root: string) {}

  /** To be called first. @throws FailureError WeightsCacheUnsafe; Error of the system */
  make(): void {
    mkdirSync(this.root, { recursive: true });
    const root = HeldFolder.open(realpathSync(this.root), this.root);
    try {
      this.held = {
        entries: current(root, 'entries', this.held?.entries),
        locks: current(root, 'locks', this.held?.locks),
      };
    } finally {
      root.close();
    }
  }

  /** Makes the entry's folder where it is missing. To be closed. @throws as `make` */
  hold(name: string): HeldFolder {
    return this.folders.entries.make(name);
  }

  /** Held while room is made, or a file of one entry is put into another. */
  get roomLock(): string {
    return join(this.folders.locks.at, 'room');
  }

  /** Shared by all who read or pull the entry. */
  useLock(name: string): string {
    return join(this.folders.locks.at, `${name}.use`);
  }

  /** Held by who pulls it. */
  pullLock(name: string): string {
    return join(this.folders.locks.at, `${name}.pull`);
  }

  names(): Promise<string[]> {
    return readdir(this.folders.entries.at);
  }

  /** Names of the entries, the one that was used longest ago first. */
  async byLastUse(): Promise<string[]> {
    const entries = (await this.names()).map((name) => ({ name, at: this.lastUse(name) }));
    return entries.sort((a, b) => a.at - b.at).map(({ name }) => name);
  }

  /** Null where there is no such folder. */
  async within<T>(name: string, look: (dir: string) => Promise<T>): Promise<T | null> {
    const folder = this.find(name);
    try {
      return folder === null ? null : await look(folder.at);
    } finally {
      folder?.close();
    }
  }

  /** False: someone uses the entry. */
  async remove(name: string): Promise<boolean> {
    const lock = FileLock.take(this.useLock(name), 'exclusive');
    if (lock === null) return false;
    try {
      // First of all: what is left by a process that ends here must not be taken for complete.
      await this.within(name, removeManifest);
      await removeTree(this.folders.entries, name);
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
      await this.within(name, async (dir) => {
        for (const file of await readdir(dir).catch(() => [])) {
          const stats = await lstat(join(dir, file)).catch(() => null);
          if (stats !== null)
            files.set(stats.ino, { whole: stats.size, present: Math.min(stats.size, stats.blocks * 512) });
        }
      });
    }
    const total = { whole: 0, present: 0 };
    for (const { whole, present } of files.values()) {
      total.whole += whole;
      total.present += present;
    }
    return total;
  }

  private find(name: string): HeldFolder | null {
    try {
      return this.folders.entries.find(name);
    } catch {
      return null;
    }
  }

  private lastUse(name: string): number {
    return lstatSync(this.useLock(name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }

  private get folders(): Held {
    if (this.held === null) throw new Error('make() comes first');
    return this.held;
  }
}

/** One that was replaced stays open: entries that are in use lead through it. */
function current(root: HeldFolder, name: string, known: HeldFolder | undefined): HeldFolder {
  return known?.isStill(root, name) === true ? known : root.make(name);
}
