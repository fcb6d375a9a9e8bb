// A folder by its descriptor: what is below it is reached through that, one name at a time, and no link is followed. Who
// may rename things meanwhile changes nothing of what was opened.

import { chmodSync, chownSync, closeSync, constants, fstatSync, mkdirSync, openSync } from 'node:fs';

/** linux/fcntl.h. Needs no permission to read the folder. */
const pathOnly = 0o10000000;
const flags = pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const takenFor = ['ELOOP', 'ENOTDIR'];

export class HeldFolder {
  private constructor(
    /** For messages. */
    readonly path: string,
    private readonly descriptor: number,
  ) {}

  /** @throws Error of the system, also where the last part of the path is a link */
  static open(path: string, shown: string): HeldFolder {
    return new HeldFolder(shown, open(path, shown));
  }

  /** Makes the folder where there is none. @throws Error where something else has its name */
  below(name: string): HeldFolder {
    const path = `${this.path}/${name}`;
    try {
      mkdirSync(this.through(name), 0o755);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    return new HeldFolder(path, open(this.through(name), path));
  }

  get owner(): number {
    return fstatSync(this.descriptor).uid;
  }

  /** Whether others than its owner can write to it. */
  get isShared(): boolean {
    return (fstatSync(this.descriptor).mode & 0o022) !== 0;
  }

  chmod(mode: number): void {
    chmodSync(this.through(), mode);
  }

  chown(owner: number): void {
    chownSync(this.through(), owner, owner);
  }

  close(): void {
    closeSync(this.descriptor);
  }

  /** The kernel resolves this to the folder that is open, not to a name. */
  private through(name?: string): string {
    const own = `/proc/self/fd/${String(this.descriptor)}`;
    return name === undefined ? own : `${own}/${name}`;
  }
}

function open(path: string, shown: string): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!takenFor.includes(code)) throw error;
    throw new Error(`${shown} is a link, or something else that is no folder`, { cause: error });
  }
}
