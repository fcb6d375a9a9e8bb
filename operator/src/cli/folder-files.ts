// A checkpoint's files in a folder of this machine, by the same small reads as from a bucket.

import { statSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathOf, type ListedFile } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import type { CheckpointFiles, FileRange } from '../preflight/read-safetensors.js';

export class FolderFiles implements CheckpointFiles {
  constructor(private readonly folder: string) {}

  async read(file: string, maxBytes: number, beginAt = 0): Promise<FileRange | null> {
    const path = join(this.folder, pathOf(file));
    const handle = await open(path).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw unreadable(path, error);
    });
    if (handle === null) return null;
    try {
      const { size, mtimeMs } = await handle.stat();
      const bytes = Buffer.alloc(Math.max(0, Math.min(maxBytes, size - beginAt)));
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, beginAt);
      return { bytes: bytes.subarray(0, bytesRead), fileBytes: size, etag: `${size}-${mtimeMs}` };
    } catch (error) {
      throw unreadable(path, error);
    } finally {
      await handle.close();
    }
  }

  readOptional(file: string, maxBytes: number): Promise<FileRange | null> {
    return this.read(file, maxBytes);
  }

  async list(): Promise<readonly ListedFile[]> {
    try {
      return (await readdir(this.folder)).map((name) => {
        const { size: bytes, mtimeMs } = statSync(join(this.folder, name));
        return { name, bytes, version: String(mtimeMs) };
      });
    } catch (error) {
      throw unreadable(this.folder, error);
    }
  }
}

function unreadable(path: string, cause: unknown): FailureError {
  return new FailureError('ModelNotFound', `${path}: ${(cause as Error).message}`, undefined, { cause });
}
