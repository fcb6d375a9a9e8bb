// A folder by its descriptor: what is in it is reached through that, one name at a time, and no link is followed. Who may
// rename things meanwhile changes nothing of what was opened. For Linux, whose /proc leads back to what is open.

import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
} from 'node:fs';
import { FailureError } from './failures.js';

/** linux/fcntl.h. Needs no permission to read the folder. */
const pathOnly = 0o10000000;
const flags = pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const isNoFolder = ['ELOOP', 'ENOTDIR'];

export class HeldFolder {
  private constructor(
    /** For messages. */
    readonly path: string,
    private readonly descriptor: number,
  ) {}

  /** @throws FailureError WeightsCacheUnsafe where the last part of the path is a link; Error of the system */
  static open(path: string, shown = path): HeldFolder {
    return new HeldFolder(shown, open(path, shown));
  }

  /** For names in it, and for itself: the kernel resolves it to the folder that is open, not to a name. */
  get at(): string {
    return `/proc/self/fd/${String(this.descriptor)}`;
  }

  /** @throws FailureError WeightsCacheUnsafe where the name is a link's or a file's; Error of the system */
  find(name: string): HeldFolder {
    return HeldFolder.open(`${this.at}/${name}`, `${this.path}/${name}`);
  }

  /** Makes the folder where there is none. @throws as `find` */
  make(name: string): HeldFolder {
    try {
      mkdirSync(`${this.at}/${name}`, 0o755);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    return this.find(name);
  }

  /** Whether the name in the other folder is still this one's. */
  isStill(parent: HeldFolder, name: string): boolean {
    const found = lstatSync(`${parent.at}/${name}`, { throwIfNoEntry: false });
    const { ino, dev } = fstatSync(this.descriptor);
    return found?.ino === ino && found.dev === dev;
  }

  get owner(): number {
    return fstatSync(this.descriptor).uid;
  }

  /** Whether others than its owner can write to it. */
  get isShared(): boolean {
    return (fstatSync(this.descriptor).mode & 0o022) !== 0;
  }

  chmod(mode: number): void {
    chmodSync(this.at, mode);
  }

  /** The group too. */
  chown(owner: number): void {
    chownSync(this.at, owner, owner);
  }

  /** What was reached through it must not be used any more. */
  close(): void {
    closeSync(this.descriptor);
  }
}

/** What a person would call a path that leads through a folder that is held. */
export function shownPath(path: string): string {
  return path.replace(/^\/proc\/self\/fd\/\d+/, (held) => {
    try {
      return readlinkSync(held);
    } catch {
      return held;
    }
  });
}

function open(path: string, shown: string): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!isNoFolder.includes(code)) throw error;
    const message = `${shown} is a link, or something else that is no folder`;
    throw new FailureError('WeightsCacheUnsafe', message, undefined, { cause: error });
  }
}
