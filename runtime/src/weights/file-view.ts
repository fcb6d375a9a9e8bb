// Files of a folder that other pods write to, as all processes of this one read them: each is opened once, and a folder of
// this pod alone leads to what is open. Nobody can put another file, or a link, under a name that is still to be read.

import { shownPath } from '@llmservice/crds/held-folder';
import { constants } from 'node:fs';
import { lstat, mkdtemp, rm, symlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SourceChangedError } from './checkpoint-source.js';
import { openPlain, removePlain } from './plain-file.js';

interface OpenFile {
  readonly path: string;
  readonly handle: FileHandle;
}

class FileView {
  private constructor(
    /** Good for this process while it holds the files open, and for those that inherit `descriptors`. */
    readonly dir: string,
    private readonly files: readonly OpenFile[],
  ) {}

  /** @throws FailureError WeightsCacheUnsafe where a name is a link's; Error of the system where it is nobody's */
  static async open(dir: string, names: readonly string[]): Promise<FileView> {
    const files: OpenFile[] = [];
    const view = new FileView(await mkdtemp(join(tmpdir(), 'llmservice-files-')), files);
    try {
      for (const name of names) {
        const path = join(dir, name);
        const handle = await openPlain(path, constants.O_RDONLY);
        files.push({ path, handle });
        await symlink(`/proc/self/fd/${String(handle.fd)}`, join(view.dir, name));
      }
      return view;
    } catch (error) {
      await view.close();
      throw error;
    }
  }

  /** For child processes, each under the number that it has here: no other process may look into this one's. */
  get descriptors(): number[] {
    return this.files.map(({ handle }) => handle.fd);
  }

  /**
   * Whether what was verified by its name is what is read. Another file that has the name by now is removed, so that the
   * next pull fetches it: where S3 reports no digest, only this notices.
   * @throws SourceChangedError
   */
  async check(): Promise<void> {
    const changed: string[] = [];
    for (const { path, handle } of this.files) {
      const [read, named] = [await handle.stat(), await lstat(path).catch(() => null)];
      if (named?.ino === read.ino && named.dev === read.dev) continue;
      await removePlain(path);
      changed.push(shownPath(path));
    }
    if (changed.length > 0)
      throw new SourceChangedError(
        `other files took the place of those that are read: ${changed.join(', ')}`,
      );
  }

  /** Nobody reads the files any more. Idempotent. */
  async close(): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
    for (const { handle } of this.files) await handle.close();
  }
}

/** Null where nobody else writes to the folder. @throws as `FileView.open` */
export async function viewOf(
  { dir, isShared }: { readonly dir: string; readonly isShared: boolean },
  files: readonly { readonly name: string }[],
): Promise<FileView | null> {
  if (!isShared) return null;
  return FileView.open(
    dir,
    files.map(({ name }) => name),
  );
}
