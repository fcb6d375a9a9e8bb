// Activation workspace of one rank, as the engine lays it out once at load: one row per token of the largest step in
// each of its buffers, and the logits of a few rows at a time.

import type { ModelShape } from './checkpoint.js';

/** Rows whose logits the engine computes at once. */
const logitRows = 32;

export interface WorkspaceInput {
  readonly shape: ModelShape;
  readonly accelerator: 'cpu' | 'cuda' | 'hip';
  readonly tensor: number;
  /** Rows of the largest step. */
  readonly maxNumBatchedTokens: number;
}

export function workspaceBytes({ shape, accelerator, tensor, maxNumBatchedTokens }: WorkspaceInput): number {
  const gates = shape.gdn === null ? 0 : (2 * shape.gdn.vHeads) / tensor;
  // Residual, normed input, output and final hidden are whole on every rank; the others are sharded.
  const perRow = 4 * shape.hidden + widestProjection(shape, tensor) + gates + widestMixed(shape) / tensor;
  // Activations are float32 on the CPU and bfloat16 on GPUs; logits are float32 everywhere.
  const activationBytes = accelerator === 'cpu' ? 4 : 2;
  return (
    Math.ceil(maxNumBatchedTokens * perRow * activationBytes) + logitRows * logitWidth(shape, tensor) * 4
  );
}

/** Rank 0 holds its own part of the logits beside all of them; on the only rank they are one. */
function logitWidth({ vocab }: ModelShape, tensor: number): number {
  return tensor === 1 ? vocab : vocab + Math.ceil(vocab / tensor);
}

/** The widest fused projection: q (with its gate) + k + v, gate + up, or GDN's q + k + v + z. */
function widestProjection(shape: ModelShape, tensor: number): number {
  const gated = shape.architecture === 'qwen3_5' ? 2 : 1;
  const q = (shape.heads * shape.headDim * gated) / tensor;
  const attention = q + 2 * Math.max(1, shape.kvHeads / tensor) * shape.headDim;
  const { gdn } = shape;
  const recurrent = gdn === null ? 0 : (2 * gdn.kHeads * gdn.kDim + 2 * gdn.vHeads * gdn.vDim) / tensor;
  return Math.max(attention, (2 * shape.ffn) / tensor, recurrent);
}

/** The widest input of an output projection: attention's heads, the FFN's activation, or GDN's heads. */
function widestMixed(shape: ModelShape): number {
  const recurrent = shape.gdn === null ? 0 : shape.gdn.vHeads * shape.gdn.vDim;
  return Math.max(shape.heads * shape.headDim, shape.ffn, recurrent);
}
