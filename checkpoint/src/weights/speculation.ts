// Speculative decoding as the contract has it: what it asks of a checkpoint, and what it takes in rows and memory.

import type { ModelShape } from '../config/model-shape.js';
import { FailureError } from '@llmservice/crds';
import { hasMtp, mtpMark } from './mtp-head.js';

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

/** What is wrong with engine.speculative.uri beside the method; null: nothing. */
export function misplacedHead({
  method,
  uri,
}: Pick<Speculative, 'method'> & { uri?: string }): string | null {
  if (uri === undefined || method === 'mtp') return null;
  return 'names where the head of method mtp is, but engine.speculative.method is not mtp; set it, or remove the uri';
}

/**
 * @param tensors of the checkpoint, and of the paired one where there is one
 * @throws FailureError InvalidEngineConfig where the method needs what they do not hold
 */
export function checkSpeculative(
  tensors: Iterable<{ readonly name: string }>,
  { method }: Speculative,
): void {
  if (method !== 'mtp' || hasMtp(tensors)) return;
  throw new FailureError(
    'InvalidEngineConfig',
    `engine.speculative.method is mtp, but the checkpoint has no tensor ${mtpMark}: it comes without a layer for ` +
      'multi-token prediction. Name another release of the model that has it in engine.speculative.uri, or set ' +
      'engine.speculative.method to ngram or none',
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
