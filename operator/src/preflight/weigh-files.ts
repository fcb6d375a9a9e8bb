// How large a checkpoint is that cannot be judged: its weight files, in whatever format they are.

import { firstGgufPart, parseGgufPartName } from '@llmservice/checkpoint';
import type { CheckpointFiles } from './read-safetensors.js';

const weightFile = /\.(safetensors|gguf|bin|pth?)$/;

/** @param only the one file that the resource names, with what parts it has; null: all of the folder. @throws FailureError */
export async function weighFiles(files: CheckpointFiles, only: string | null): Promise<number> {
  const names = only === null ? await namesIn(files) : await filesOf(files, only);
  let bytes = 0;
  for (const name of names.filter((each) => weightFile.test(each))) {
    bytes += (await files.read(name, 1))?.fileBytes ?? 0;
  }
  return bytes;
}

async function filesOf(files: CheckpointFiles, only: string): Promise<string[]> {
  if (parseGgufPartName(only) === null) return [only];
  return (await namesIn(files)).filter((name) => firstGgufPart(name) === only);
}

async function namesIn(files: CheckpointFiles): Promise<string[]> {
  return (await files.list()).map(({ name }) => name);
}
