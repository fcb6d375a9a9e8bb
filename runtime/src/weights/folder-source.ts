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

export class FolderSource implements CheckpointSource {
  readonly uri: string;
  constructor(readonly dir: string) {
    this.uri = dir;
  }

  async list(): Promise<SourceFile[]> {
    try {
      const names = await readdir(this.dir);
      const entries = await Promise.all(
        names.map(async (name) => ({ name, stats: await stat(join(this.dir, name)) })),
      );
      return entries
        .filter(({ stats }) => stats.isFile())
        .map(({ name, stats }) => ({ name, bytes: stats.size }));
    } catch (error) {
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
