// A checkpoint in a local folder: inspected where it lies, never copied. Folders of users may hold links, such as those of
// Hugging Face's cache; in what was pulled there are none.

import { nestedFilesOf, pathOf } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { shownPath } from '@llmservice/crds/held-folder';
import { constants, createReadStream, type Stats } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { mayNotRead } from './mounted-folder.js';
import {
  SourceChangedError,
  type CheckpointSource,
  type FileVersion,
  type SourceFile,
} from './checkpoint-source.js';
import { refuseLinksOut } from './linked-files.js';
import { openPlain } from './plain-file.js';

/** Whether files may be links: into which further folders, or not at all where other pods write to the folder. */
export type Links = 'refused' | { readonly alsoInto: readonly string[] };

export class FolderSource implements CheckpointSource {
  readonly uri: string;
  constructor(
    private readonly dir: string,
    private readonly links: Links,
    shown = shownPath(dir),
  ) {
    this.uri = shown;
  }

  async list(): Promise<SourceFile[]> {
    try {
      const names = await readdir(this.dir);
      const entries = await Promise.all(names.map(async (name) => ({ name, stats: await this.stats(name) })));
      const files = entries.filter(({ stats }) => stats.isFile());
      if (this.links !== 'refused') {
        const names = files.map(({ name }) => name);
        const folders = entries.map(({ name }) => name);
        await refuseLinksOut(this.dir, [...names, ...(await this.below(folders))], this.links.alsoInto);
      }
      return files.map(({ name, stats }) => ({ name, bytes: stats.size }));
    } catch (error) {
      if (error instanceof FailureError) throw error;
      throw new FailureError('ModelNotFound', `${this.uri}: ${(error as Error).message}`, undefined, {
        cause: error,
      });
    }
  }

  async version(name: string): Promise<FileVersion> {
    try {
      return { name, bytes: (await this.stats(name)).size, etag: null, digest: null };
    } catch (error) {
      throw new SourceChangedError(`${join(this.uri, name)} is gone`, { cause: error });
    }
  }

  async *read(file: FileVersion, begin: number, end: number): AsyncGenerator<Uint8Array> {
    if (begin === end) return;
    const path = join(this.dir, file.name);
    const range = { start: begin, end: end - 1 };
    const stream =
      this.links !== 'refused'
        ? createReadStream(path, range)
        : (await openPlain(path, constants.O_RDONLY)).createReadStream(range);
    try {
      for await (const chunk of stream as AsyncIterable<Uint8Array>) yield chunk;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
      const message = `${join(this.uri, file.name)}: ${mayNotRead()}`;
      throw new FailureError('ModelNotFound', message, { file: file.name }, { cause: error });
    }
  }

  /** Files below the folder that are read. */
  private async below(folders: readonly string[]): Promise<string[]> {
    const paths = folders.flatMap((folder) => nestedFilesOf(folder).map(pathOf));
    const found = paths.map((path) =>
      this.stats(path).then(
        () => [path],
        () => [],
      ),
    );
    return (await Promise.all(found)).flat();
  }

  private stats(name: string): Promise<Stats> {
    const path = join(this.dir, name);
    return this.links !== 'refused' ? stat(path) : lstat(path);
  }
}
