// The files by which sentence-transformers says how a checkpoint pools: in its folder of a checkpoint on this machine, under
// its flat name of one that was pulled.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  checkSmallFile,
  modulesFile,
  pathOf,
  poolingFile,
  readPooling,
  type SentencePooling,
} from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';

/**
 * Null: the checkpoint does not say.
 * @param hidden width of the model
 * @throws FailureError CheckpointCorrupt, CheckpointIncomplete, UnsupportedArchitecture
 */
export async function readSentencePooling(folder: string, hidden: number): Promise<SentencePooling | null> {
  const modules = await readIfThere(folder, modulesFile, modulesFile);
  const pooling =
    (await readIfThere(folder, poolingFile, pathOf(poolingFile))) ??
    (await readIfThere(folder, poolingFile, poolingFile));
  return readPooling({ modules, pooling }, hidden);
}

async function readIfThere(folder: string, name: string, path: string): Promise<string | null> {
  const file = join(folder, path);
  try {
    checkSmallFile(name, (await stat(file)).size);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof FailureError) throw error;
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR'].includes(code)) return null;
    throw new FailureError('CheckpointCorrupt', `${path}: ${message}`, { file: path }, { cause: error });
  }
}
