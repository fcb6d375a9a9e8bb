// How a product with swizzled tiles is cut into work. A unit is 128 outputs, two tiles side by side, by
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
  // The K tile of a pair at which the slice of tile `k` ends, which may lie beyond the pair.
  __host__ __device__ int32_t cut_after(int32_t pair, int32_t k) const {
    return k + length - (pair * k_tiles + k) % length;
  }
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

// What products after one read first, which it brings into the L2 as it ends: the first units of each slice.
struct Ahead {
  const std::byte* tiles;
  Slices slices;
  int32_t outputs;
  int32_t units;  // of each slice; 0: nothing
};

// So many products after one at most: a small one, and the large one behind it.
constexpr int kAheads = 2;

// K tiles [begin, end) of a pair, for a block of tokens.
struct Piece {
  int32_t pair;
  int32_t token_block;
  int32_t begin;
  int32_t end;
};

// The piece that comes `at`th where pieces have all K. So many blocks of tokens take their turns on a pair,
// so that what runs at one time shares both.
template <int kTurns>
__device__ __forceinline__ Piece piece_in_turns(int32_t at, int32_t pairs, int32_t token_blocks,
                                                int32_t k_tiles) {
  const int32_t group = at / (kTurns * pairs);
  const int32_t left = token_blocks - group * kTurns;
  const int32_t turns = left < kTurns ? left : kTurns;
  const int32_t in_group = at - group * kTurns * pairs;
  return {in_group / turns, group * kTurns + in_group % turns, 0, k_tiles};
}

// How the blocks of a launch share the pieces.
struct Shares {
  int32_t token_blocks;
  bool whole;  // all K of a pair for a block of tokens, pairs in turn; else a block has one slice

  // Piece `n` of this block; false when it has no more. kWhole: `whole` is known beforehand, which spares
  // registers.
  template <bool kWhole>
  __device__ bool piece(const Slices& slices, int32_t n, Piece* out) const {
    const auto block = static_cast<int32_t>(blockIdx.x);
    if (kWhole || whole) {
      constexpr int32_t kTurns = 8;
      const int32_t at = block + n * static_cast<int32_t>(gridDim.x);
      if (at >= slices.pairs * token_blocks) return false;
      *out = piece_in_turns<kTurns>(at, slices.pairs, token_blocks, slices.k_tiles);
      return true;
    }
    // Blocks that want the same weights run side by side.
    const int32_t first = block / token_blocks * slices.length;
    const int32_t last = first + slices.length < slices.units() ? first + slices.length : slices.units();
    const int32_t pair = first / slices.k_tiles + n;
    const int32_t end = last - pair * slices.k_tiles;
    if (end <= 0) return false;
    *out = {pair, block % token_blocks, n == 0 ? first % slices.k_tiles : 0,
            end < slices.k_tiles ? end : slices.k_tiles};
    return true;
  }
};

}  // namespace llmservice::gpu
