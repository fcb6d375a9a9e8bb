// A checkpoint in a local folder: inspected where it lies, never copied.

import { FailureError } from '@llmservice/crds';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  SourceChangedError,
  type CheckpointSource,
  type FileVersion,
  type SourceFile,
} from './checkpoint-source.js';
import { refuseLinksOut } from './linked-files.js';

export class FolderSource implements CheckpointSource {
  readonly uri: string;
  /** @param linkRoots further folders that its files may be links into */
  constructor(
    readonly dir: string,
    private readonly linkRoots: readonly string[] = [],
  ) {
    this.uri = dir;
  }

  async list(): Promise<SourceFile[]> {
    try {
      const names = await readdir(this.dir);
      const entries = await Promise.all(
        names.map(async (name) => ({ name, stats: await stat(join(this.dir, name)) })),
      );
      const files = entries.filter(({ stats }) => stats.isFile());
      await refuseLinksOut(
        this.dir,
        files.map(({ name }) => name),
        this.linkRoots,
      );
      return files.map(({ name, stats }) => ({ name, bytes: stats.size }));
    } catch (error) {
      if (error instanceof FailureError) throw error;
      throw new FailureError('ModelNotFound', `${this.dir}: ${(error as Error).message}`, undefined, {
        cause: error,
      });
    }
  }

  async version(name: string): Promise<FileVersion> {
    try {
      return { name, bytes: (await stat(join(this.dir, name))).size, etag: null, digest: null };
    } catch (error) {
      throw new SourceChangedError(`${join(this.dir, name)} is gone`, { cause: error });
    }
  }

  async *read(file: FileVersion, begin: number, end: number): AsyncGenerator<Uint8Array> {
    if (begin === end) return;
    const stream = createReadStream(join(this.dir, file.name), { start: begin, end: end - 1 });
    for await (const chunk of stream as AsyncIterable<Uint8Array>) yield chunk;
  }
}
