// Writes generated files, each by its path from the root of the repository; with --check only compares and fails when
// one is stale.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);

export async function writeGenerated(files: Readonly<Record<string, string>>): Promise<void> {
  const checkOnly = process.argv.includes('--check');
  const stale: string[] = [];
  for (const [file, content] of Object.entries(files)) {
    if ((await current(file)) === content) continue;
    stale.push(file);
    if (checkOnly) continue;
    const path = fileURLToPath(new URL(file, root));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    console.log(`wrote ${file}`);
  }
  if (checkOnly && stale.length > 0) {
    console.error(`Out of date: ${stale.join(', ')}. Run \`npm run generate\` and commit the result.`);
    process.exitCode = 1;
  }
}

async function current(file: string): Promise<string | null> {
  try {
    return await readFile(new URL(file, root), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
