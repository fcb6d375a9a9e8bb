// The text of a file, or null where it cannot be read.

import { readFileSync } from 'node:fs';

export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
