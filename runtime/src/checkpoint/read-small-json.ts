// A small JSON object among a checkpoint's files.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkSmallFile, isObject, parseSmallJson } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';

/** Null where it is not there. @throws FailureError CheckpointCorrupt */
export async function readSmallJson(
  folder: string,
  name: string,
): Promise<Readonly<Record<string, unknown>> | null> {
  const path = join(folder, name);
  try {
    checkSmallFile(name, (await stat(path)).size);
    const value = parseSmallJson(name, await readFile(path, 'utf8'));
    if (isObject(value)) return value;
  } catch (error) {
    if (error instanceof FailureError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    const problem = `${name}: ${(error as Error).message}`;
    throw new FailureError('CheckpointCorrupt', problem, { file: name }, { cause: error });
  }
  throw new FailureError('CheckpointCorrupt', `${name} is not a JSON object`, { file: name });
}
