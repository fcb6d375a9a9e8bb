// Checkpoints as their files: by name, as they lie in a folder or under a prefix of a bucket.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type Files = Readonly<Record<string, Uint8Array>>;

/** The files of a folder that has no folders. */
export function readFiles(dir: string): Record<string, Uint8Array> {
  return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name))]));
}

export function writeFiles(dir: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(dir, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}
