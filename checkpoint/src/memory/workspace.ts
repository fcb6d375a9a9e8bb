// Activation workspace of one rank, as the engine lays it out once at load: one row per token of the largest step in
// each of its buffers, and the logits of a few rows at a time; on a GPU, what is drawn from them as well.

import { feedForwardWidths, headsOf, ofLayer } from '../config/layer-attention.js';
import type { ModelShape } from '../config/model-shape.js';
import type { Speculative } from '../weights/speculation.js';

/** Rows whose logits the engine computes at once. */
export const logitRows = 32;
/** Of a token that a GPU has drawn, with its alternatives (SampleResult in native/src/ops/sample_request.h). */
const sampleBytes = 192;

export interface WorkspaceInput {
  readonly shape: ModelShape;
  readonly accelerator: 'cpu' | 'cuda' | 'hip';
  readonly tensor: number;
  readonly maxNumSeqs: number;
  /** Rows of the largest step. */
  readonly maxNumBatchedTokens: number;
  readonly speculative: Speculative;
}

export function workspaceBytes(input: WorkspaceInput): number {
  const { shape, tensor, maxNumSeqs, maxNumBatchedTokens, speculative } = input;
  const gates = shape.gdn === null ? 0 : (2 * shape.gdn.vHeads) / tensor;
  // Residual, normed input, output and final hidden are whole on every rank; the others are sharded.
  // Rows gathered for the experts are whole too.
  const expertRows = shape.moe === null ? 0 : shape.hidden;
  // Multi-token prediction keeps the hidden of every row, and joins it with the next token's embedding.
  const hidden = speculative.method === 'mtp' ? shape.hidden : 0;
  // Embeddings of all layers, whole on every rank; of one, beside the gate that opens it.
  const part = shape.layerEmbeddings?.width ?? 0;
  const parts = shape.layerKinds.length * part;
  const widest = Math.max(widestProjection(shape, tensor), (2 * hidden) / tensor, parts, 2 * part);
  const mixed = Math.max(widestMixed(shape) / tensor, part);
  const perRow = 4 * shape.hidden + hidden + widest + gates + mixed + expertRows + parts;
  // Layers with a window may rotate by angles of their own.
  const angles = shape.rotaryDim + (shape.windowRope?.rotaryDim ?? 0);
  const routing = shape.moe === null ? 0 : 2 * shape.moe.topK;
  // Activations are float32; so are logits, routing and rotary angles.
  const rows = Math.ceil(maxNumBatchedTokens * (perRow + routing + angles) * 4);
  // On rank 0, where each row first was not finite: whole lines of 64 bytes.
  const faults = Math.ceil(maxNumBatchedTokens / 16) * 64;
  // One of each row, and of a sequence that may begin a form one more.
  const samples = input.accelerator === 'cpu' ? 0 : (maxNumBatchedTokens + maxNumSeqs) * sampleBytes;
  return rows + faults + samples + logitRows * logitWidth(shape, tensor) * 4;
}

/** Rank 0 holds its own part of the logits beside all of them; on the only rank they are one. */
function logitWidth({ vocab }: ModelShape, tensor: number): number {
  return tensor === 1 ? vocab : vocab + Math.ceil(vocab / tensor);
}

/** The widest fused projection: q (with its gate) + k + v, gate + up, an expert's, the router, GDN's q + k + v + z. */
function widestProjection(shape: ModelShape, tensor: number): number {
  const gated = shape.gdn === null ? 1 : 2;
  // Of the layers that there are: those of a stage may be of one kind.
  const layers = shape.layerKinds.map((_, layer) => ofLayer(shape, layer));
  const attention = layers.map(
    ({ kvHeads, headDim }) => ((shape.heads * gated) / tensor + 2 * Math.max(1, kvHeads / tensor)) * headDim,
  );
  const { gdn, moe } = shape;
  const expert = moe === null ? 0 : (2 * Math.max(moe.ffn, moe.sharedFfn)) / tensor;
  const recurrent = gdn === null ? 0 : (2 * gdn.kHeads * gdn.kDim + 2 * gdn.vHeads * gdn.vDim) / tensor;
  const dense = feedForwardWidths(shape).map((width) => (2 * width) / tensor);
  return Math.max(...attention, ...dense, expert, moe?.experts ?? 0, recurrent);
}

/** The widest input of an output projection: attention's heads, a feed-forward's activation, or GDN's heads. */
function widestMixed(shape: ModelShape): number {
  const recurrent = shape.gdn === null ? 0 : shape.gdn.vHeads * shape.gdn.vDim;
  const expert = shape.moe === null ? 0 : Math.max(shape.moe.ffn, shape.moe.sharedFfn);
  const queries = headsOf(shape).map(({ headDim }) => shape.heads * headDim);
  return Math.max(...queries, ...feedForwardWidths(shape), expert, recurrent);
}
