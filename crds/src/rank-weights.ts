// Bytes of packed weights on one tensor-parallel rank, to the byte of the CPU backend: panels of 64 rows, with scales
// spread out for the kernels, and vectors widened to float32.

import type { FusedMatrix, Held, Part, ResidentVector, ResidentWeights } from './resident-weights.js';
import type { Split } from './weight-split.js';

/** One of `size` ranks, which together hold a model with `kvHeads` KV heads. */
export interface RankOf {
  readonly rank: number;
  readonly size: number;
  readonly kvHeads: number;
}

export function rankWeightBytes({ matrices, vectors }: ResidentWeights, of: RankOf): number {
  const packed = matrices.map((matrix) => matrix.copies * matrixBytes(matrix, of));
  const widened = vectors.map((vector) => vector.copies * vectorBytes(vector, of));
  return [...packed, ...widened].reduce((sum, bytes) => sum + bytes, 0);
}

/** By rank. Ranks differ by their rows of the vocabulary, and rank 0 has the biases of sums. */
export function weightBytesByRank(weights: ResidentWeights, size: number, kvHeads: number): number[] {
  return Array.from({ length: size }, (_, rank) => rankWeightBytes(weights, { rank, size, kvHeads }));
}

function vectorBytes({ rows, width, split }: ResidentVector, of: RankOf): number {
  return rowsOf(rows, split, of) * width * 4;
}

function matrixBytes({ cols, parts }: FusedMatrix, of: RankOf): number {
  const own = parts.some(({ split }) => split === 'columns') ? cols / of.size : cols;
  return runsOf(parts, of).reduce((sum, { rows, held }) => sum + packedBytes(rows, own, held), 0);
}

/** Neighbours that are held alike lie in the same panels. */
function runsOf(parts: readonly Part[], of: RankOf): { rows: number; readonly held: Held }[] {
  const runs: { rows: number; readonly held: Held }[] = [];
  for (const part of parts) {
    const rows = rowsOf(part.rows, part.split, of);
    const last = runs.at(-1);
    if (last?.held === part.held) last.rows += rows;
    else runs.push({ rows, held: part.held });
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

/** The packing rule of native/src/backends/cpu/packed_panels.cpp. */
function packedBytes(rows: number, cols: number, held: Held): number {
  const padded = Math.ceil(rows / 64) * 64;
  switch (held) {
    case 'float32':
      return padded * cols * 4;
    case 'bfloat16':
    case 'float16':
      return padded * cols * 2;
    // Float scales, repeated for each row: one per 128 columns, or one.
    case 'fp8Block':
      return padded * (cols + 4 * Math.ceil(cols / 128));
    case 'fp8Row':
    case 'int8':
      return padded * (cols + 4);
    // Half a byte, an e4m3 scale per 16 columns, a float per row.
    case 'nvfp4':
      return padded * (cols / 2 + cols / 16 + 4);
    // Codes, and what a block's columns share.
    case 'Q8_0':
      return padded * (cols + (cols / 32) * 2);
    case 'Q4_0':
      return padded * (cols / 2 + (cols / 32) * 2);
    case 'Q4_K':
      return padded * (cols / 2 + (cols / 256) * 20);
    case 'Q6_K':
      return padded * (cols / 2 + (cols / 256) * 82);
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
    case 'Q8_0':
    case 'Q4_0':
      return 32;
    case 'Q4_K':
    case 'Q6_K':
      return 256;
  }
}
