// What the GPU backend takes beside the model's own workspace (GpuBackend::reserve): room for activations as the matrix
// units read, partial sums, attention's splits, chunks of Gated DeltaNet, experts, sampling, and the lists of a step.
// Bounds where the exact number depends on the device; of the longest context that the checkpoint was made for, so that
// a plan that looks for the longest that fits does not chase it.

import { adapterWorkspaceBytes, noAdapters, type AdapterRoom } from './adapter-room.js';
import { headsOf } from '../config/layer-attention.js';
import type { ModelShape } from '../config/model-shape.js';
import { draftRows } from './drafter-workspace.js';
import { isCoded } from '../weights/rank-weights.js';
import type { Held, ResidentWeights } from '../weights/resident-weights.js';

export interface DeviceWorkspaceInput {
  readonly shape: ModelShape;
  readonly weights: ResidentWeights;
  readonly accelerator: 'cpu' | 'cuda' | 'hip';
  readonly tensor: number;
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  readonly blockSize: number;
  /** Absent: none. */
  readonly adapterRoom?: AdapterRoom;
}

const counters = 64 * 1024;
/** More multiprocessors than any device has that cuts products into slices (Hopper), of 1 MiB each. */
const maxSlices = 160;
/** Floats that attention's splits take at most; a step that wants more takes turns. */
const maxSplitFloats = 64 * 1024 ** 2;
/** Of a chunk of 64 positions and a V head: two triangles of tiles, and four values of each position. */
const chunkFloats = 2 * 2560 + 4 * 64;
/** Rows that experts take at once. */
const maxExpertRows = 2048;
/** Rows that are sampled at once, and tokens that they bias and count together, of 8 bytes each. */
const maxSamples = 32;
const maxSampleEdits = 128 * 1024;

/** A draft model shares it with the model: they run one after the other. */
export function deviceWorkspaceBytes(input: DeviceWorkspaceInput): number {
  if (input.accelerator === 'cpu') return 0;
  const { drafter } = input.weights;
  const own = { ...input, maxNumBatchedTokens: rowsOf(input) };
  // Both run sequences as long as the model's.
  const { maxPositionEmbeddings } = input.shape;
  const all =
    drafter === undefined ? [own] : [own, { ...own, shape: { ...drafter.shape, maxPositionEmbeddings } }];
  const most = (bytesOf: (each: DeviceWorkspaceInput) => number): number => Math.max(...all.map(bytesOf));
  return (
    productBytes(own) +
    most(attentionBytes) +
    gdnBytes(own) +
    most(expertBytes) +
    samplingBytes(own) +
    most(listBytes) +
    adapterWorkspaceBytes(input.adapterRoom ?? noAdapters, own.maxNumBatchedTokens)
  );
}

function rowsOf(input: DeviceWorkspaceInput): number {
  return input.weights.drafter?.eagle3 === null ? draftRows(input) : input.maxNumBatchedTokens;
}

/**
 * Rows as records: of 128 columns and a scale, in one byte each for FP8 weights and in two for codes that are widened,
 * else of 64 columns in two bytes each.
 */
function recordBytes(rows: number, cols: number, held: readonly Held[]): number {
  const blocks = Math.ceil(cols / 128);
  const isFp8 = held.some((each) => each === 'fp8Block' || each === 'fp8Row');
  const perRow = held.some(isCoded) ? blocks * 260 : isFp8 ? blocks * 132 : Math.ceil(cols / 64) * 128;
  return Math.ceil(rows / 256) * 256 * perRow;
}

function productBytes({ weights, accelerator, tensor, maxNumBatchedTokens }: DeviceWorkspaceInput): number {
  const records = weights.matrices.map(({ cols, parts }) => {
    const own = parts.some(({ split }) => split === 'columns') ? cols / tensor : cols;
    return recordBytes(
      maxNumBatchedTokens,
      own,
      parts.map(({ held }) => held),
    );
  });
  const rows = Math.ceil(Math.min(maxNumBatchedTokens, 1024) / 256) * 256;
  const sums = accelerator === 'cuda' ? maxSlices * 2 * 128 * rows * 4 : 0;
  return counters + Math.max(0, ...records) + sums;
}

function attentionBytes({ shape, tensor, maxNumBatchedTokens }: DeviceWorkspaceInput): number {
  const longest = 2 ** Math.ceil(Math.log2(Math.max(1024, shape.maxPositionEmbeddings)));
  const headDim = Math.max(...headsOf(shape).map((heads) => heads.headDim));
  const perRow = (shape.heads / tensor) * splitsOf(longest) * (headDim + 2);
  return 4 * Math.min(maxNumBatchedTokens * 8 * perRow, Math.max(maxSplitFloats, 8 * perRow));
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

function expertBytes({ shape, weights, tensor, maxNumBatchedTokens }: DeviceWorkspaceInput): number {
  if (shape.moe === null) return 0;
  const { topK, experts, ffn } = shape.moe;
  const rows = Math.min(maxNumBatchedTokens, maxExpertRows);
  const pairs = rows * topK;
  const width = Math.ceil(ffn / tensor);
  const routed = weights.matrices.filter(({ use }) => use === 'routed');
  const coded = routed.flatMap(({ parts }) => parts.map(({ held }) => held)).filter(isCoded);
  const records = Math.max(recordBytes(rows, shape.hidden, coded), recordBytes(pairs, width, coded));
  const owners = shape.moe.biases ? 4 * pairs + 256 : 0;
  const lists = 12 * Math.min(pairs, experts) + 8 * pairs + owners;
  return lists + records + 4 * pairs * Math.max(2 * width, shape.hidden) + 5 * 256;
}

/** Of each row: what chunks of 4,096 logits say, a histogram, adjusted logits and candidates. Rank 0 alone has it. */
function samplingBytes({ shape: { vocab } }: DeviceWorkspaceInput): number {
  const chunks = Math.ceil(vocab / 4096) * 272;
  return maxSamples * (chunks + 12_296 + Math.ceil(vocab / 4) * 16 + vocab * 4) + 5 * 256;
}

/** Ids, angles, segments, block tables and what is to be sampled of a step, on their way from the host. */
function listBytes({ shape, maxNumSeqs, maxNumBatchedTokens, blockSize }: DeviceWorkspaceInput): number {
  const tables = maxNumSeqs * Math.ceil(shape.maxPositionEmbeddings / blockSize) * 4;
  const masks = maxSamples * Math.ceil(shape.vocab / 32) * 4;
  const samples = Math.max(2 * maxNumSeqs, maxSamples) * 72 + masks + maxSampleEdits * 8;
  return (
    64 * 1024 + maxNumBatchedTokens * (128 + shape.rotaryDim * 4) + maxNumSeqs * 8 * 32 + tables + samples
  );
}
