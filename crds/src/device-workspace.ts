// What the GPU backend takes beside the model's own workspace (GpuBackend::reserve): room for activations as the matrix
// units read them, partial sums, attention's splits, chunks of Gated DeltaNet, experts, and the lists of a step. Bounds
// where the exact number depends on the device; of the longest context that the checkpoint was made for, so that a
// plan that looks for the longest that fits does not chase it.

import type { ModelShape } from './checkpoint.js';
import type { ResidentWeights } from './resident-weights.js';

export interface DeviceWorkspaceInput {
  readonly shape: ModelShape;
  readonly weights: ResidentWeights;
  readonly accelerator: 'cpu' | 'cuda' | 'hip';
  readonly tensor: number;
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  readonly blockSize: number;
}

const counters = 64 * 1024;
/** More multiprocessors than any device has that cuts products into slices (Hopper), of 1 MiB each. */
const mostSlices = 160;
/** Floats that attention's splits take at most; a step that wants more takes turns. */
const mostSplitFloats = 64 * 1024 ** 2;
/** Of a chunk of 64 positions and a V head: two triangles of tiles, and four values of each position. */
const chunkFloats = 2 * 2560 + 4 * 64;
/** Rows that experts take at once. */
const mostExpertRows = 2048;

export function deviceWorkspaceBytes(input: DeviceWorkspaceInput): number {
  if (input.accelerator === 'cpu') return 0;
  return (
    productBytes(input) + attentionBytes(input) + gdnBytes(input) + expertBytes(input) + listBytes(input)
  );
}

/** Rows as records of 128 bytes: of 64 columns in two bytes each, or of 128 codes and a scale. */
function recordBytes(rows: number, cols: number, eightBits: boolean): number {
  const perRow = eightBits ? Math.ceil(cols / 128) * 132 : Math.ceil(cols / 64) * 128;
  return Math.ceil(rows / 256) * 256 * perRow;
}

function productBytes({ weights, accelerator, tensor, maxNumBatchedTokens }: DeviceWorkspaceInput): number {
  const records = weights.matrices.map(({ cols, parts }) => {
    const own = parts.some(({ split }) => split === 'columns') ? cols / tensor : cols;
    const eightBits = parts.some(({ held }) => held === 'fp8Block' || held === 'fp8Row');
    return recordBytes(maxNumBatchedTokens, own, eightBits);
  });
  const rows = Math.ceil(Math.min(maxNumBatchedTokens, 1024) / 256) * 256;
  const sums = accelerator === 'cuda' ? mostSlices * 2 * 128 * rows * 4 : 0;
  return counters + Math.max(0, ...records) + sums;
}

function attentionBytes({ shape, tensor, maxNumBatchedTokens }: DeviceWorkspaceInput): number {
  const longest = 2 ** Math.ceil(Math.log2(Math.max(1024, shape.maxPositionEmbeddings)));
  const perRow = (shape.heads / tensor) * splitsOf(longest) * (shape.headDim + 2);
  return 4 * Math.min(maxNumBatchedTokens * 8 * perRow, Math.max(mostSplitFloats, 8 * perRow));
}

/** As native/src/backends/gpu/kernels/attention_splits.h cuts positions. */
function splitsOf(longest: number): number {
  if (longest <= 8192) return Math.ceil(longest / 256);
  if (longest <= 32_768) return 32 + Math.ceil((longest - 8192) / 512);
  return 80 + Math.ceil((longest - 32_768) / 1024);
}

function gdnBytes({ shape, tensor, maxNumBatchedTokens }: DeviceWorkspaceInput): number {
  if (shape.gdn === null) return 0;
  const { kHeads, vHeads, kDim, vDim, convKernel } = shape.gdn;
  const chunks = (Math.floor(maxNumBatchedTokens / 64) * vHeads * chunkFloats) / tensor;
  const channels = (2 * kHeads * kDim + vHeads * vDim) / tensor;
  const tails = Math.ceil(maxNumBatchedTokens / 32) * 2 * channels * (convKernel - 1);
  return 4 * Math.ceil(Math.max(chunks, tails));
}

function expertBytes({ shape, tensor, maxNumBatchedTokens }: DeviceWorkspaceInput): number {
  if (shape.moe === null) return 0;
  const { topK, experts, ffn } = shape.moe;
  const rows = Math.min(maxNumBatchedTokens, mostExpertRows);
  const pairs = rows * topK;
  const width = Math.ceil(ffn / tensor);
  const records = Math.max(recordBytes(rows, shape.hidden, false), recordBytes(pairs, width, false));
  const lists = 12 * Math.min(pairs, experts) + 8 * pairs;
  return lists + records + 4 * pairs * (Math.max(2 * width, shape.hidden) + width) + 6 * 256;
}

/** Ids, angles, segments and block tables of a step, on their way from the host. */
function listBytes({ shape, maxNumSeqs, maxNumBatchedTokens, blockSize }: DeviceWorkspaceInput): number {
  const tables = maxNumSeqs * Math.ceil(shape.maxPositionEmbeddings / blockSize) * 4;
  return 64 * 1024 + maxNumBatchedTokens * (128 + shape.rotaryDim * 4) + maxNumSeqs * 8 * 32 + tables;
}
