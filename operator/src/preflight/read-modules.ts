// What becomes of an embedder's hidden states, judged before a device is taken: as the runtime reads it.

import {
  checkDenseTensors,
  readSentenceModules,
  type DenseModule,
  type SentenceModules,
} from '@llmservice/checkpoint';
import { longReadBytes, readHeader, textOf, type CheckpointFiles } from './read-safetensors.js';

/**
 * @param hidden width of the model
 * @param etags gets what was read
 * @throws FailureError as `readSentenceModules` and `checkDenseTensors`
 */
export async function readModules(
  files: CheckpointFiles,
  hidden: number,
  etags: Map<string, string>,
): Promise<SentenceModules> {
  const read = async (file: string): Promise<string | null> => {
    const range = await files.readOptional(file, longReadBytes);
    if (range === null) return null;
    etags.set(file, range.etag);
    return textOf(file, range);
  };
  const modules = await readSentenceModules(read, hidden);
  for (const dense of modules.dense) await checkWeights(files, dense, etags);
  return modules;
}

async function checkWeights(
  files: CheckpointFiles,
  dense: DenseModule,
  etags: Map<string, string>,
): Promise<void> {
  const header = await readHeader(files, dense.weightsFile);
  if (header !== null) etags.set(dense.weightsFile, header.etag);
  checkDenseTensors(dense, header?.tensors ?? null);
}
