// The text of all declarations of the bridge (native/ts/bridge), one file after the other.

import { readdirSync, readFileSync } from 'node:fs';

export function bridgeText(): string {
  const folder = new URL('../ts/bridge/', import.meta.url);
  const files = readdirSync(folder).toSorted();
  return files.map((file) => readFileSync(new URL(file, folder), 'utf8')).join('\n');
}
