// Checkpoints on a node's disk that the pods of the node share. Each is pulled by one process, whoever comes first, while
// the others wait; who uses one holds a lock for as long, and nothing that is in use is evicted.

import { FailureError } from '@llmservice/crds';
import type { HeldFolder } from '@llmservice/crds/held-folder';
import { join } from 'node:path';
import type { FileVersion } from '../checkpoint-source.js';
import { removePlain } from '../plain-file.js';
import type { PullObserver } from '../pull-files.js';
import { PullJournal } from '../pull-journal.js';
import type { Sleep } from '../retry.js';
import type { Room } from '../weights-disk.js';
import { CacheFolders } from './cache-folders.js';
import { CacheRoom } from './cache-room.js';
import { FileLock, type LockKind } from './file-lock.js';
import { damagedFiles, readManifest, removeManifest, writeManifest, type Verify } from './manifest.js';

/** How the rest of the process learns what the cache does. */
export interface CacheObserver {
  /** The checkpoint is there. */
  hit(name: string): void;
  /** It is to be pulled by this process. */
  missed(name: string): void;
  evicted(name: string): void;
  /** Files of it are not as they were, and are fetched again. */
  damaged(name: string, files: readonly string[]): void;
}

export interface WeightsCacheOptions {
  readonly root: string;
  /** Null: as much as the disk has. */
  readonly maxBytes: number | null;
  readonly verify: Verify;
  /** What the folder is outside of the pod, for messages. */
  readonly volume: string;
  readonly observer: CacheObserver;
}

export interface ClaimOptions {
  /** Hears of a pull by another process too. */
  readonly observer: PullObserver;
  readonly sleep: Sleep;
  readonly signal: AbortSignal;
}

/** An entry of the cache that is not evicted before it is released. */
export interface CacheEntry {
  /** Through a descriptor of this process; good until it is released. */
  readonly dir: string;
  /** Otherwise it is this process's to pull, and nobody else's. */
  readonly isComplete: boolean;
  readonly room: Room;
  /** All of it is there and verified. The next who claims it gets it complete. */
  readonly commit: (files: readonly FileVersion[]) => Promise<void>;
  /** Idempotent. */
  readonly release: () => void;
}

/** An entry that this process uses. */
interface Held {
  readonly name: string;
  readonly origin: string;
  readonly use: FileLock;
  readonly folder: HeldFolder;
}

const betweenLooksMs = 200;

export class WeightsCache {
  private readonly folders: CacheFolders;

  constructor(private readonly options: WeightsCacheOptions) {
    this.folders = new CacheFolders(options.root);
  }

  /**
   * Waits while another process pulls the entry, and takes over from one that died.
   * @param name of the content; equal names mean equal files
   * @param origin where the files are from
   * @throws FailureError WeightsCacheNotWritable, WeightsCacheUnsafe
   */
  async claim(name: string, origin: string, options: ClaimOptions): Promise<CacheEntry> {
    try {
      return await this.claimOnce(name, origin, options);
    } catch (error) {
      throw this.translate(error);
    }
  }

  private async claimOnce(name: string, origin: string, options: ClaimOptions): Promise<CacheEntry> {
    const { folders } = this;
    folders.make();
    const use = await this.lock(folders.useLock(name), 'shared', options);
    let folder: HeldFolder | null = null;
    try {
      use.touch(new Date());
      folder = folders.hold(name);
      const held = { name, origin, use, folder };
      const watch = new PullWatch(folder.at, options.observer);
      for (;;) {
        if ((await this.look(folder.at, options)) === 'complete') return this.entry(held, null, options);
        const pull = FileLock.take(folders.pullLock(name), 'exclusive');
        const isOurs = pull !== null && (await this.begin(name, folder.at, pull, options));
        if (isOurs) return this.entry(held, pull, options);
        await watch.look();
        await options.sleep(betweenLooksMs);
      }
    } catch (error) {
      folder?.close();
      use.release();
      throw error;
    }
  }

  /** Gives the lock back where there is nothing to pull: who pulled may have finished between two looks. */
  private async begin(name: string, dir: string, pull: FileLock, options: ClaimOptions): Promise<boolean> {
    let begins = false;
    try {
      const found = await this.look(dir, options);
      begins = found !== 'complete';
      if (found !== 'complete' && found !== 'absent') await this.discard(name, dir, found);
    } finally {
      if (!begins) pull.release();
    }
    return begins;
  }

  private entry(
    { name, origin, use, folder }: Held,
    pull: FileLock | null,
    { sleep, signal }: ClaimOptions,
  ): CacheEntry {
    const { folders } = this;
    const { maxBytes, observer } = this.options;
    if (pull === null) observer.hit(name);
    else observer.missed(name);
    const evicted = (other: string): void => observer.evicted(other);
    const dir = folder.at;
    let isReleased = false;
    return {
      dir,
      isComplete: pull === null,
      room: new CacheRoom({ folders, name, dir, origin, maxBytes, evicted, sleep }),
      commit: async (files) => {
        await writeManifest(dir, origin, files, signal);
        pull?.release();
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        try {
          use.touch(new Date());
        } catch {
          // The disk is read-only by now: a model that cannot be unloaded would be worse.
        }
        pull?.release();
        use.release();
        folder.close();
      },
    };
  }

  /** Names of damaged files of an entry that was complete once. */
  private async look(
    dir: string,
    { observer, signal }: ClaimOptions,
  ): Promise<'complete' | 'absent' | readonly string[]> {
    const manifest = await readManifest(dir);
    if (manifest === null) return 'absent';
    const damaged = await damagedFiles(dir, manifest, this.options.verify, () => {
      signal.throwIfAborted();
      observer.alive();
    });
    // What was not read to its end is not damaged.
    signal.throwIfAborted();
    return damaged.length === 0 ? 'complete' : damaged;
  }

  /** Of an entry that nobody else pulls. */
  private async discard(name: string, dir: string, damaged: readonly string[]): Promise<void> {
    this.options.observer.damaged(name, damaged);
    await removeManifest(dir);
    // Removed, not written over: other entries may have the same files.
    for (const file of damaged) await removePlain(join(dir, file));
  }

  private async lock(path: string, kind: LockKind, { sleep }: ClaimOptions): Promise<FileLock> {
    for (;;) {
      const lock = FileLock.take(path, kind);
      if (lock !== null) return lock;
      await sleep(betweenLooksMs);
    }
  }

  private translate(error: unknown): unknown {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) return error;
    const [user = 0, group = 0] = [process.getuid?.(), process.getgid?.()];
    const explained =
      `the cache of weights (${this.options.volume}) cannot be written by user ${String(user)}, ` +
      `group ${String(group)}: ${message}`;
    return new FailureError('WeightsCacheNotWritable', explained, { user, group }, { cause: error });
  }
}

/** Reports a pull by another process, by what that writes down. */
class PullWatch {
  private doneBytes = 0;
  private totalBytes = 0;

  constructor(
    private readonly dir: string,
    private readonly observer: PullObserver,
  ) {}

  async look(): Promise<void> {
    // It watches itself for stalls, and its lock goes when it ends.
    this.observer.elsewhere();
    const { doneBytes, totalBytes } = (await PullJournal.open(this.dir)).progress();
    if (totalBytes !== this.totalBytes) this.observer.begin(doneBytes, totalBytes);
    else this.observer.received(doneBytes - this.doneBytes);
    this.doneBytes = doneBytes;
    this.totalBytes = totalBytes;
  }
}
