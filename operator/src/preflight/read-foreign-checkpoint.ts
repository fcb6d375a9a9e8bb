// Reads a checkpoint for an engine that is not ours: it must be complete, its architecture is that engine's affair. What
// our own engine would say of it is reported with it.

import {
  checkTensors,
  asStored,
  inEngineForm,
  joinPacked,
  parseCheckpointConfig,
  parseConfigObject,
  rankWeightBytes,
  residentWeights,
  type HoldOptions,
  type TensorEntry,
} from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { contentHash } from '../domain/content-hash.js';
import type { Checkpoint } from '../domain/checkpoint.js';
import { readConfig, readShards, type CheckpointFiles } from './read-safetensors.js';

/** @throws FailureError ModelNotFound, CheckpointIncomplete, CheckpointCorrupt */
export async function readForeignCheckpoint(
  files: CheckpointFiles,
  options: HoldOptions,
): Promise<Checkpoint> {
  const config = await readConfig(files);
  if (config === null) throw new FailureError('ModelNotFound', 'the folder has no config.json');
  const etags = new Map([['config.json', config.etag]]);
  const { tensors, fileBytes } = await readShards(files, etags);
  return {
    ...judge(config.text, tensors, options),
    fileBytes,
    fingerprint: contentHash([...etags].sort()),
  };
}

/** By our own engine, where it knows the model; else the tensors as they are stored. */
function judge(
  config: string,
  tensors: readonly TensorEntry[],
  options: HoldOptions,
): Pick<Checkpoint, 'model' | 'weightBytes' | 'note'> {
  try {
    const shape = asStored(parseCheckpointConfig(config), tensors);
    const named = joinPacked(parseConfigObject(config), inEngineForm(shape, tensors));
    checkTensors(shape, named);
    const weights = residentWeights(named, shape, options);
    const whole = { rank: 0, size: 1, kvHeads: shape.kvHeads };
    return { model: { shape, weights }, weightBytes: rankWeightBytes(weights, whole) };
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
    // Broken for every engine.
    if (error.message.startsWith('config.json is not')) throw error;
    const note = `Our own engine would not take it (${error.message}); vLLM judges for itself.`;
    return { model: null, weightBytes: tensors.reduce((sum, { bytes }) => sum + bytes, 0), note };
  }
}
