// Room in the cache for one entry: other entries that nobody uses are evicted, the one used longest ago first, until the
// limit and the disk allow what is to come. One process at a time, so that each sees what the others have claimed.

import { FailureError, formatGiB } from '@llmservice/crds';
import { link, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileVersion } from '../checkpoint-source.js';
import { removePlain } from '../plain-file.js';
import type { Sleep } from '../retry.js';
import type { Room } from '../weights-disk.js';
import { diskFull } from '../weights-disk.js';
import type { CacheFolders } from './cache-folders.js';
import { FileLock } from './file-lock.js';
import { isUnchanged, readManifest } from './manifest.js';

export interface RoomOptions {
  readonly folders: CacheFolders;
  /** The entry that the room is for. */
  readonly name: string;
  /** Its folder. */
  readonly dir: string;
  /** Where its files are from. */
  readonly origin: string;
  /** Null: as much as the disk has. */
  readonly maxBytes: number | null;
  readonly evicted: (name: string) => void;
  readonly sleep: Sleep;
}

const betweenTriesMs = 50;

export class CacheRoom implements Room {
  constructor(private readonly options: RoomOptions) {}

  /** Entries that are prepared have files of their full length: who comes next counts them. */
  async reserve(prepare: () => Promise<number>, laterBytes: number): Promise<void> {
    const lock = await this.lock();
    try {
      await this.makeRoom((await prepare()) + laterBytes, laterBytes);
    } finally {
      lock.release();
    }
  }

  /** The same file may be there already, in an entry of another version of the checkpoint. */
  async adopt(file: FileVersion): Promise<boolean> {
    const { folders, name } = this.options;
    if (file.etag === null) return false;
    for (const other of await folders.names()) {
      if (other === name) continue;
      if ((await folders.within(other, (dir) => this.adoptFrom(dir, file))) === true) return true;
    }
    return false;
  }

  private async adoptFrom(other: string, file: FileVersion): Promise<boolean> {
    const { dir, origin } = this.options;
    const manifest = await readManifest(other);
    const same = manifest?.files.find((each) => each.name === file.name);
    if (manifest?.origin !== origin || same?.etag !== file.etag || same.bytes !== file.bytes) return false;
    if (!(await isUnchanged(other, same))) return false;
    const isLinked = await link(join(other, file.name), join(dir, file.name)).then(
      () => true,
      () => false,
    );
    if (!isLinked) return false;
    // What was linked to may have been replaced meanwhile.
    if (await isUnchanged(dir, same)) return true;
    await removePlain(join(dir, file.name));
    return false;
  }

  private async lock(): Promise<FileLock> {
    for (;;) {
      const lock = FileLock.take(this.options.folders.roomLock, 'exclusive');
      if (lock !== null) return lock;
      await this.options.sleep(betweenTriesMs);
    }
  }

  /** @throws FailureError WeightsDiskFull */
  private async makeRoom(missingBytes: number, laterBytes: number): Promise<void> {
    const { folders, name, maxBytes } = this.options;
    const limit = maxBytes ?? Infinity;
    const { whole: ownBytes } = await folders.sizes([name]);
    // Nothing is evicted for what fits nowhere.
    if (ownBytes + laterBytes > limit) throw this.beyondLimit(ownBytes + laterBytes, null);
    const others = (await folders.byLastUse()).filter((each) => each !== name);
    for (;;) {
      const { whole } = await folders.sizes(await folders.names());
      const freeBytes = await this.freeBytes();
      const isWithinLimit = whole + laterBytes <= limit;
      if (isWithinLimit && missingBytes <= freeBytes) return;
      if (await this.removeOne(others)) continue;
      if (isWithinLimit) throw diskFull(folders.root, missingBytes, freeBytes);
      throw this.beyondLimit(ownBytes + laterBytes, whole - ownBytes);
    }
  }

  /** Removes the first that nobody uses from the list and the disk. */
  private async removeOne(names: string[]): Promise<boolean> {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      if (!(await this.options.folders.remove(name))) continue;
      this.options.evicted(name);
      return true;
    }
    return false;
  }

  /** What is free of the disk, without what others are about to fill. */
  private async freeBytes(): Promise<number> {
    const { folders, name } = this.options;
    const { bavail, bsize } = await statfs(folders.root);
    const filling = (await folders.names()).filter((each) => each !== name && folders.isUsed(each));
    const { whole, present } = await folders.sizes(filling);
    return Math.max(0, bavail * bsize - (whole - present));
  }

  private beyondLimit(neededBytes: number, usedBytes: number | null): FailureError {
    const { folders, maxBytes } = this.options;
    const limit = `the cache ${folders.root} may hold ${formatGiB(maxBytes ?? 0)} (model.cache.maxSize)`;
    const used = usedBytes === null ? '' : `, and other pods use ${formatGiB(usedBytes)} of it`;
    const message = `the checkpoint takes ${formatGiB(neededBytes)}, but ${limit}${used}`;
    return new FailureError('WeightsDiskFull', message, {
      neededBytes,
      maxBytes: maxBytes ?? 0,
      ...(usedBytes === null ? {} : { usedBytes }),
    });
  }
}
