// An archive by the real tar, in one of its formats.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @param folder where the files are put first */
export function tarArchive(
  folder: string,
  format: string,
  content: Readonly<Record<string, string | Uint8Array>>,
): Buffer {
  for (const [path, bytes] of Object.entries(content)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  const names = Object.keys(content).map((path) => path.split('/')[0] ?? '');
  return execFileSync('tar', [`--format=${format}`, '-C', folder, '-cf', '-', ...new Set(names)], {
    maxBuffer: 2 ** 30,
  });
}
