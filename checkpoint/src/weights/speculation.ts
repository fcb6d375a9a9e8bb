// Speculative decoding as the contract has it: what it asks of a checkpoint, and what it takes in rows and memory.

import type { ModelShape } from '../config/model-shape.js';
import { FailureError } from '@llmservice/crds';
import { hasMtp, mtpMark } from './mtp-head.js';

export interface Speculative {
  /**
   * `ngram`: drafts from the sequence itself; `mtp`: by the checkpoint's layer for multi-token prediction; `eagle3`: by an EAGLE-3
   * draft model; `draft_model`: by a smaller model with the same tokenizer.
   */
  readonly method: 'none' | 'ngram' | 'mtp' | 'eagle3' | 'draft_model';
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
  if (uri === undefined && hasDraftModel({ method })) {
    return `is missing: method ${method} takes its draft model from there; name it, or set engine.speculative.method to ngram or none`;
  }
  if (uri === undefined || method === 'mtp' || hasDraftModel({ method })) return null;
  return (
    'names where methods mtp, eagle3 and draft_model take what drafts from, but engine.speculative.method is none of them; ' +
    'set it, or remove the uri'
  );
}

/** Whether a draft model makes the drafts, which always comes from a checkpoint of its own. */
export function hasDraftModel({ method }: Pick<Speculative, 'method'>): boolean {
  return method === 'eagle3' || method === 'draft_model';
}

/** Whether layers make the drafts, which have a KV cache of their own. */
export function draftsByLayer({ method }: Pick<Speculative, 'method'>): boolean {
  return method === 'mtp' || hasDraftModel({ method });
}

/**
 * @param tensors of the checkpoint, and of the paired one where there is one
 * @param paired whether there is one
 * @throws FailureError InvalidEngineConfig where the method needs what they do not hold
 */
export function checkSpeculative(
  tensors: Iterable<{ readonly name: string }>,
  paired: boolean,
  { method }: Speculative,
): void {
  const all = [...tensors];
  if (hasDraftModel({ method }) && !paired) {
    const which =
      method === 'eagle3' ? 'one that was trained for this model' : 'a smaller one of its vocabulary';
    throw new FailureError(
      'InvalidEngineConfig',
      `engine.speculative.method is ${method}, but engine.speculative.uri names no draft model: name ${which}, or set ` +
        'engine.speculative.method to ngram or none',
    );
  }
  if (method !== 'mtp' || hasMtp(all)) return;
  const other = all.find(({ name }) => name.endsWith('.eh_proj.weight'));
  if (other !== undefined) {
    throw new FailureError(
      'InvalidEngineConfig',
      `engine.speculative.method is mtp, but the checkpoint's layer for multi-token prediction is of a form that is not read ` +
        `(${other.name}). Set engine.speculative.method to ngram or none`,
    );
  }
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
