// Bytes of packed weights on one tensor-parallel rank, to the byte of the backend: on the CPU panels of 64 rows, with
// scales spread out for the kernels; on GPUs tiles of 64 rows; vectors widened to float32.

import { blockType } from '../formats/gguf-types.js';
import type {
  BlockTypeName,
  FusedMatrix,
  Held,
  Part,
  ResidentVector,
  ResidentWeights,
} from './resident-weights.js';
import type { Split } from './weight-split.js';

/** One of `size` ranks, which together hold a model with `kvHeads` KV heads. */
export interface RankOf {
  readonly rank: number;
  readonly size: number;
  readonly kvHeads: number;
  /** Whose form matrices have; absent: the CPU's. */
  readonly onGpu?: boolean;
}

export function rankWeightBytes({ matrices, vectors }: ResidentWeights, of: RankOf): number {
  const packed = matrices.map((matrix) => matrix.copies * matrixBytes(matrix, of));
  const widened = vectors.map((vector) => vector.copies * vectorBytes(vector, of));
  return sum([...packed, ...widened]);
}

/** By rank. Ranks differ by their rows of the vocabulary, and rank 0 has the biases of sums. */
export function weightBytesByRank(
  weights: ResidentWeights,
  size: number,
  kvHeads: number,
  onGpu = false,
): number[] {
  return Array.from({ length: size }, (_, rank) => rankWeightBytes(weights, { rank, size, kvHeads, onGpu }));
}

function vectorBytes({ rows, width, split }: ResidentVector, of: RankOf): number {
  return rowsOf(rows, split, of) * width * 4;
}

function matrixBytes({ cols, parts }: FusedMatrix, of: RankOf): number {
  const own = parts.some(({ split }) => split === 'columns') ? cols / of.size : cols;
  const isHeld = parts.every(({ held }) => held !== 'float32'); // which is refused where it is loaded
  const bytesOf = of.onGpu === true && isHeld ? tiledBytes : packedBytes;
  // The order of columns is one for all parts.
  const order = parts.some(({ reordered }) => reordered === true) ? 4 * own : 0;
  return order + sum(runsOf(parts, of).map((run) => bytesOf(run, own, of)));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** As native/src/backends/gpu/packing.cpp: whole tiles, and a float scale per 128 columns and 64 rows or each row. */
function tiledBytes({ held, rows }: Run, cols: number, of: RankOf): number {
  const total = sum(rows);
  const tileRows = Math.ceil(total / 64) * 64;
  const coded = codedRowBytes[held];
  if (coded !== undefined) {
    const tiles = tileRows * Math.ceil(cols / 128) * coded;
    return held === 'nvfp4' || held === 'int8' ? tiles + 4 * total : tiles;
  }
  const quantized = held === 'fp8Block' || held === 'fp8Row';
  const tiles = tileRows * Math.ceil((cols * (quantized ? 1 : 2)) / 128) * 128;
  if (!quantized) return tiles;
  // The rows of a tile share their scales where no part begins within one.
  const aligned = rows.every((each, i) => each % 64 === 0 || (i === rows.length - 1 && of.size === 1));
  const shared = aligned && held === 'fp8Block';
  return tiles + 4 * Math.ceil(cols / 128) * (shared ? tileRows / 64 : total);
}

/**
 * Of 128 columns of a row: codes of four, five, six or eight bits, the scales and minima of their groups, and what those have in
 * common, by native/src/backends/gpu/kernels/coded_tiles.h.
 */
const codedRowBytes: Readonly<Partial<Record<Held, number>>> = {
  ...{ nvfp4: 64 + 8, Q4_0: 64 + 8, MXFP4: 64 + 8, IQ4_NL: 64 + 8 },
  IQ4_XS: 64 + 4 + 2,
  ...{ Q4_1: 64 + 16, INT4: 64 + 16 },
  ...{ Q4_K: 64 + 8 + 4, Q2_K: 64 + 16 + 4, Q3_K: 64 + 8 + 2 },
  int8: 128,
  ...{ Q8_0: 128 + 8, INT8: 128 + 16 },
  ...{ Q5_0: 80 + 8, Q5_1: 80 + 16, Q5_K: 80 + 8 + 4 },
  Q6_K: 96 + 8 + 2,
};

/** Whether the GPU backend widens codes, and takes rows of activations as 128 columns in f16 with a scale. */
export function isCoded(held: Held): boolean {
  return held in codedRowBytes;
}

/** Neighbours that are held alike, which lie in the same panels or tiles. */
interface Run {
  readonly held: Held;
  /** Of each part. */
  readonly rows: number[];
}

function runsOf(parts: readonly Part[], of: RankOf): Run[] {
  const runs: Run[] = [];
  for (const part of parts) {
    const rows = rowsOf(part.rows, part.split, { ...of, kvHeads: part.kvHeads ?? of.kvHeads });
    const last = runs.at(-1);
    if (last?.held === part.held) last.rows.push(rows);
    else runs.push({ held: part.held, rows: [rows] });
  }
  return runs;
}

/** As native/src/model/shard.cpp divides them. */
function rowsOf(rows: number, split: Split, { rank, size, kvHeads }: RankOf): number {
  switch (split) {
    case 'whole':
    case 'columns':
      return rows;
    case 'rows':
      return rows / size;
    case 'kvRows':
      return rows / Math.min(size, kvHeads);
    case 'vocab':
      return Math.floor((rows * (rank + 1)) / size) - Math.floor((rows * rank) / size);
    case 'first':
      return rank === 0 ? rows : 0;
  }
}

/** Of a row of one block: codes, and what they share (native/src/backends/cpu/packed_blocks.h). */
const panelBlockBytes: Readonly<Record<BlockTypeName, number>> = {
  Q8_0: 34,
  Q4_0: 18,
  Q4_1: 20,
  Q5_0: 22,
  Q5_1: 24,
  Q2_K: 84,
  Q3_K: 114,
  Q4_K: 148,
  Q5_K: 180,
  Q6_K: 210,
  IQ4_NL: 18,
  IQ4_XS: 138,
  MXFP4: 17,
  INT4: 20,
  INT8: 36,
};

/** The packing rule of native/src/backends/cpu/packed_panels.cpp. */
function packedBytes({ held, rows }: Run, cols: number): number {
  const padded = Math.ceil(sum(rows) / 64) * 64;
  const paired = Math.ceil(cols / 2) * 2; // columns lie in pairs
  switch (held) {
    case 'float32':
      return padded * cols * 4;
    case 'bfloat16':
      return padded * paired * 2;
    case 'float16':
      return padded * cols * 2;
    // Float scales, repeated for each row: one per 128 columns, or one.
    case 'fp8Block':
      return padded * (paired + 4 * Math.ceil(cols / 128));
    case 'fp8Row':
      return padded * (paired + 4);
    case 'int8':
      return padded * (cols + 4);
    // Half a byte, an e4m3 scale per 16 columns, a float per row.
    case 'nvfp4':
      return padded * (cols / 2 + cols / 16 + 4);
    default:
      return padded * (cols / sharedColumns(held)) * panelBlockBytes[held];
  }
}

/** Columns that share a scale, which no border between ranks may cut; 1: none do. */
export function sharedColumns(held: Held): number {
  switch (held) {
    case 'float32':
    case 'bfloat16':
    case 'float16':
    case 'fp8Row':
    case 'int8':
      return 1;
    case 'nvfp4':
      return 16;
    case 'fp8Block':
      return 128;
    default:
      return blockType(held)?.columns ?? 1;
  }
}
