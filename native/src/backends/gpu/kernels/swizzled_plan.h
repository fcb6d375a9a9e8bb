// How a product with swizzled tiles is cut into work. A unit is 128 outputs, two tiles beside each other, by
// 128 bytes of K. The units of all outputs, K running fastest, are cut into slices of equal length, one for
// each multiprocessor: so that a product with few rows reads every weight once, evenly from all of them. What
// a slice has of a pair of tiles is summed by itself, and these sums are added in the order of K. The cuts
// follow from the matrix and the device; with many rows a block walks all K of its outputs and adds up at the
// same cuts.
#pragma once

#include "backends/gpu/kernels/tiles.h"

namespace llmservice::gpu {

// Fewer units than this are not worth a block of their own.
constexpr int32_t kSmallestSlice = 4;

struct Slices {
  int32_t k_tiles;
  int32_t pairs;
  int32_t length;  // units of a slice
  int32_t count;

  __host__ __device__ int32_t units() const { return pairs * k_tiles; }
  __host__ __device__ int32_t first_of(int32_t pair) const { return pair * k_tiles / length; }
  __host__ __device__ int32_t last_of(int32_t pair) const { return ((pair + 1) * k_tiles - 1) / length; }
};

inline Slices cut_matrix(const DeviceMatrix& matrix) {
  Slices slices{.k_tiles = k_tiles(matrix.dtype, matrix.cols),
                .pairs = static_cast<int32_t>(divide_up(matrix.rows, 2 * kTileRows)),
                .length = kSmallestSlice,
                .count = 0};
  const auto even = static_cast<int32_t>(divide_up(slices.units(), matrix.multiprocessors));
  if (even > slices.length) slices.length = even;
  slices.count = static_cast<int32_t>(divide_up(slices.units(), slices.length));
  return slices;
}

// K tiles [begin, end) of a pair, for a block of tokens.
struct Piece {
  int32_t pair;
  int32_t token_block;
  int32_t begin;
  int32_t end;
};

// The pieces of one block, in order.
struct Walk {
  const Slices& slices;
  int32_t token_blocks;
  bool whole;  // all K of a pair for a block of tokens at once; else one slice
  int32_t at;
  int32_t end;
  int32_t token_block;

  __device__ Walk(const Slices& of, int32_t blocks_of_tokens, bool whole_pairs)
      : slices(of), token_blocks(blocks_of_tokens), whole(whole_pairs) {
    const auto block = static_cast<int32_t>(blockIdx.x);
    if (whole) {
      at = block;
      end = slices.pairs * token_blocks;
      return;
    }
    token_block = block / slices.count;
    at = block % slices.count * slices.length;
    end = at + slices.length < slices.units() ? at + slices.length : slices.units();
  }

  __device__ bool next(Piece* piece) {
    if (at >= end) return false;
    if (whole) {
      // Eight blocks of tokens take their turns on a pair, so that what runs at one time shares both.
      constexpr int32_t kTurns = 8;
      const int32_t group = at / (kTurns * slices.pairs);
      const int32_t left = token_blocks - group * kTurns;
      const int32_t turns = left < kTurns ? left : kTurns;
      const int32_t in_group = at - group * kTurns * slices.pairs;
      *piece = {in_group / turns, group * kTurns + in_group % turns, 0, slices.k_tiles};
      at += static_cast<int32_t>(gridDim.x);
      return true;
    }
    const int32_t begin = at % slices.k_tiles;
    const int32_t length = slices.k_tiles - begin < end - at ? slices.k_tiles - begin : end - at;
    *piece = {at / slices.k_tiles, token_block, begin, begin + length};
    at += length;
    return true;
  }
};

}  // namespace llmservice::gpu
