// Reads a checkpoint for an engine that is not ours: it must be complete, its architecture is that engine's affair. What
// our own engine would say of it is told beside.

import {
  FailureError,
  parseCheckpointConfig,
  rankWeightBytes,
  residentWeights,
  safetensorsSingleFile,
  type HoldOptions,
} from '@llmservice/crds';
import { contentHash } from '../plan/content-hash.js';
import type { Checkpoint } from './read-checkpoint.js';
import {
  checkIndex,
  mostConfigBytes,
  readHeaders,
  readIndex,
  textOf,
  type CheckpointFiles,
  type ShardHeader,
} from './read-safetensors.js';

/** @throws FailureError ModelNotFound, CheckpointIncomplete, CheckpointCorrupt */
export async function readForeignCheckpoint(
  files: CheckpointFiles,
  options: HoldOptions,
): Promise<Checkpoint> {
  const config = await files.read('config.json', mostConfigBytes);
  if (config === null) throw new FailureError('ModelNotFound', 'the folder has no config.json');
  const etags = new Map([['config.json', config.etag]]);
  const index = await readIndex(files, etags);
  const headers = await readHeaders(files, index?.files ?? [safetensorsSingleFile]);
  for (const header of headers) etags.set(header.file, header.etag);
  if (index !== null) checkIndex(index, headers);
  const known = judge(textOf('config.json', config), headers, options);
  return {
    ...known,
    fileBytes: sum(headers.map(({ fileBytes }) => fileBytes)),
    fingerprint: contentHash([...etags].sort()),
  };
}

/** By our own engine, where it knows the model; else the tensors as they are stored. */
function judge(
  config: string,
  headers: readonly ShardHeader[],
  options: HoldOptions,
): Pick<Checkpoint, 'model' | 'weightBytes' | 'note'> {
  const tensors = headers.flatMap((header) => header.tensors);
  try {
    const shape = parseCheckpointConfig(config);
    const weights = residentWeights(tensors, shape, options);
    const whole = { rank: 0, size: 1, kvHeads: shape.kvHeads };
    return { model: { shape, weights }, weightBytes: rankWeightBytes(weights, whole) };
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
    // Broken for every engine.
    if (error.message.startsWith('config.json is not')) throw error;
    const note = `Our own engine would not take it (${error.message}); vLLM judges for itself.`;
    return { model: null, weightBytes: sum(tensors.map(({ bytes }) => bytes)), note };
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
