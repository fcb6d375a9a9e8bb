// Activation workspace of a draft model on one rank, beside the model's: as a model of its own has it, or as
// native/src/model/eagle3.cpp lays it out, each buffer on whole lines of 64 bytes.

import type { ResidentWeights } from '../weights/resident-weights.js';
import { logitRows, workspaceBytes, type WorkspaceInput } from './workspace.js';

export interface DrafterWorkspaceInput extends WorkspaceInput {
  readonly weights: Pick<ResidentWeights, 'drafter'>;
}

/** It drafts, and nothing drafts for it. */
const noDrafts = { method: 'none', tokens: 0 } as const;

/** Of a whole draft model: beside the rows of a step, of each sequence the token that the step has sampled. */
export function draftRows({
  maxNumBatchedTokens,
  maxNumSeqs,
}: Pick<WorkspaceInput, 'maxNumBatchedTokens' | 'maxNumSeqs'>): number {
  return Math.ceil((maxNumBatchedTokens + maxNumSeqs) / 16) * 16;
}

export function drafterWorkspaceBytes(input: DrafterWorkspaceInput): number {
  const { weights, tensor, maxNumSeqs, maxNumBatchedTokens } = input;
  if (weights.drafter === undefined) return 0;
  const { shape, eagle3 } = weights.drafter;
  if (eagle3 === null) {
    const rows = draftRows(input);
    return workspaceBytes({ ...input, shape, maxNumBatchedTokens: rows, speculative: noDrafts });
  }
  const { hidden, heads, kvHeads, headDim, ffn, rotaryDim } = shape;
  const attention = (heads / tensor + 2 * Math.max(1, kvHeads / tensor)) * headDim;
  const slice = Math.ceil(eagle3.vocab / tensor);
  const buffers = [
    // What three layers read, joined and as one; the layer's input.
    [maxNumBatchedTokens, 3 * hidden],
    [maxNumBatchedTokens, hidden],
    [maxNumBatchedTokens, 2 * hidden],
    [maxNumBatchedTokens, Math.max(attention, (2 * ffn) / tensor)],
    [maxNumBatchedTokens, Math.max(heads * headDim, ffn) / tensor],
    [maxNumBatchedTokens, rotaryDim / 2],
    [maxNumBatchedTokens, rotaryDim / 2],
    // Of each sequence what its next draft continues from.
    [maxNumSeqs, hidden],
    [logitRows, slice],
    ...(tensor === 1 ? [] : [[logitRows, eagle3.vocab]]),
    // Of each of the model's tokens the draft token.
    [1, shape.vocab],
  ] as [number, number][];
  return buffers.reduce((sum, [rows, width]) => sum + Math.ceil((rows * width) / 16) * 64, 0);
}
