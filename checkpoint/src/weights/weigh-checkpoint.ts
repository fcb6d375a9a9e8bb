// What the engine holds of a checkpoint, once its tensors are found to be those that the engine reads. Operator and runtime ask
// here, so that `plan` refuses what `serve` would, in the same words.

import { FailureError } from '@llmservice/crds';
import { denseBytes, type DenseModule } from '../config/dense-module.js';
import type { ModelShape } from '../config/model-shape.js';
import { checkLoadQuantization } from '../config/quantization.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { checkAccelerator, type Device } from './check-accelerator.js';
import { checkDraftTensors, checkTensors } from './check-tensors.js';
import type { DraftModel } from './draft-model.js';
import type { Eagle3Head } from './eagle3-head.js';
import type { MtpHead } from './mtp-head.js';
import {
  joinedWeights,
  residentWeights,
  type HoldOptions,
  type ResidentWeights,
} from './resident-weights.js';
import { checkSpeculative, hasDraftModel } from './speculation.js';

/** What is known of a checkpoint by its headers. */
interface WeighedCheckpoint {
  readonly shape: ModelShape;
  readonly tensors: readonly TensorEntry[];
  /** What the pooled hidden states of an embedder go through. */
  readonly dense?: readonly DenseModule[];
}

export interface WeighOptions extends HoldOptions {
  readonly accelerator: Device;
}

/**
 * @param head of a paired checkpoint, judged by checkMtpHead, or a draft model, judged where it was read; null: the layer for drafts, if any, is the
 *   checkpoint's own
 * @throws FailureError InvalidEngineConfig, UnsupportedArchitecture, UnsupportedQuantization, CheckpointIncomplete, CheckpointCorrupt
 */
export function weighCheckpoint(
  { shape, tensors, dense = [] }: WeighedCheckpoint,
  head: MtpHead | Eagle3Head | DraftModel | null,
  options: WeighOptions,
): ResidentWeights {
  checkLoadQuantization(shape.quantization, options.quantization);
  checkSpeculative([...tensors, ...(head?.tensors ?? [])], head !== null, options.speculative);
  checkTensors(shape, tensors);
  if (options.speculative.method === 'mtp') checkDraftTensors(shape, head?.tensors ?? tensors);
  checkAccelerator(shape, options.accelerator);
  const serverBytes = dense.reduce((sum, module) => sum + denseBytes(module), 0);
  const trunk = { ...residentWeights(tensors, shape, options), ...(serverBytes > 0 ? { serverBytes } : {}) };
  if (head === null) return trunk;
  if (hasDraftModel(options.speculative)) checkDrafter(head, options.accelerator);
  const joined = { ...trunk, ...joinedWeights(trunk, residentWeights(head.tensors, head.shape, options)) };
  if (!hasDraftModel(options.speculative)) return joined;
  return { ...joined, drafter: { shape: head.shape, eagle3: 'eagle3' in head ? head.eagle3 : null } };
}

function checkDrafter({ shape }: MtpHead | Eagle3Head | DraftModel, accelerator: Device): void {
  try {
    checkAccelerator(shape, accelerator);
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
    const message = `the draft model of engine.speculative.uri: ${error.message}, or engine.speculative.method ngram or none`;
    throw new FailureError(error.reason, message, error.detail, { cause: error });
  }
}
