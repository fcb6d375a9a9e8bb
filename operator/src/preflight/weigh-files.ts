// How large a checkpoint is that cannot be judged: its weight files, in whatever format they are.

import type { CheckpointFiles } from './read-safetensors.js';

const weightFile = /\.(safetensors|gguf|bin|pth?)$/;

/** @param only the one file that the resource names; null: all of the folder. @throws FailureError */
export async function weighFiles(files: CheckpointFiles, only: string | null): Promise<number> {
  const names = only === null ? (await files.list()).map(({ name }) => name) : [only];
  let bytes = 0;
  for (const name of names.filter((each) => weightFile.test(each))) {
    bytes += (await files.read(name, 1))?.fileBytes ?? 0;
  }
  return bytes;
}
