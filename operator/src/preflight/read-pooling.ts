// How a checkpoint pools embeddings, judged before a device is taken: as the runtime reads it.

import { modulesFile, poolingFile, readPooling } from '@llmservice/checkpoint';
import { longReadBytes, textOf, type CheckpointFiles } from './read-safetensors.js';

/**
 * @param hidden width of the model
 * @param etags gets what was read
 * @throws FailureError as `readPooling`
 */
export async function checkPooling(
  files: CheckpointFiles,
  hidden: number,
  etags: Map<string, string>,
): Promise<void> {
  const read = async (file: string): Promise<string | null> => {
    const range = await files.readOptional(file, longReadBytes);
    if (range === null) return null;
    etags.set(file, range.etag);
    return textOf(file, range);
  };
  const [modules, pooling] = await Promise.all([read(modulesFile), read(poolingFile)]);
  readPooling({ modules, pooling }, hidden);
}
