// Speculative decoding as the contract has it: what it asks of a checkpoint, and what it takes in rows and memory.

import type { ModelShape } from './checkpoint.js';
import { FailureError } from './failures.js';

export interface Speculative {
  /** `ngram`: drafts from the sequence itself; `mtp`: by the checkpoint's layer for multi-token prediction. */
  readonly method: 'none' | 'ngram' | 'mtp';
  /** Most drafts of one sequence in one step, where there is a method. */
  readonly tokens: number;
}

/** Most drafts of one sequence in one step. */
export function draftsOf({ method, tokens }: Speculative): number {
  return method === 'none' ? 0 : tokens;
}

/** Rows that a step must have at least: each sequence's token with its drafts, and one chunk of prefill. */
export function fewestBatchedTokens(maxNumSeqs: number, speculative: Speculative): number {
  return maxNumSeqs * (1 + draftsOf(speculative)) + 64;
}

/** @throws FailureError InvalidEngineConfig where the method needs what the checkpoint does not hold */
export function checkSpeculative(
  tensors: Iterable<{ readonly name: string }>,
  { method }: Speculative,
): void {
  if (method !== 'mtp') return;
  for (const { name } of tensors) if (name === 'mtp.fc.weight') return;
  throw new FailureError(
    'InvalidEngineConfig',
    'engine.speculative.method is mtp, but the checkpoint has no tensor mtp.fc.weight: it comes without a layer for ' +
      'multi-token prediction. Set engine.speculative.method to ngram or none, or take a release that has the layer',
  );
}

/** Bytes per sequence and rank that recurrent layers keep of drafts, float32: each row's [q | k | v | b | a]. */
export function draftBytesPerSequence(shape: ModelShape, tensor: number, speculative: Speculative): number {
  if (shape.gdn === null) return 0;
  const { kHeads, vHeads, kDim, vDim } = shape.gdn;
  const width = 2 * kHeads * kDim + vHeads * vDim + 2 * vHeads;
  const layers = shape.layerKinds.filter((kind) => kind === 'gdn').length;
  return Math.ceil((layers * draftsOf(speculative) * width * 4) / tensor);
}
