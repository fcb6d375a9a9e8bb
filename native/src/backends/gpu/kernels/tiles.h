// Where the bytes of tiles lie: weights as matrix.h has them, activations in tiles of the same form. In every
// order, each four bytes that follow one another along K stay together, on a border of four.
#pragma once

#include "backends/gpu/kernels/coded_tiles.h"
#include "backends/gpu/kernels/fragment_tiles.h"
#include "backends/gpu/kernels/matrix.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

constexpr int32_t kTileSize = kTileRows * kTileBytes;

__host__ __device__ constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

__host__ __device__ constexpr int32_t element_bytes(DType dtype) { return dtype == DType::kF8E4M3 ? 1 : 2; }

// Of a token's activations that go with a tile: coded weights take 128 columns in f16.
__host__ __device__ constexpr int32_t token_bytes(DType dtype) {
  return is_coded(dtype) ? 2 * kCodedColumns : kTileBytes;
}

// Whether tokens have a scale for each tile of K.
__host__ __device__ constexpr bool has_token_scales(DType dtype) {
  return dtype == DType::kF8E4M3 || is_coded(dtype);
}

// Tiles along K.
__host__ __device__ constexpr int32_t k_tiles(DType dtype, int64_t cols) {
  if (is_coded(dtype)) return static_cast<int32_t>(divide_up(cols, kCodedColumns));
  return static_cast<int32_t>(divide_up(cols * element_bytes(dtype), kTileBytes));
}

// Where a coded matrix has the block of an output's column, in bytes from its first tile.
__device__ __forceinline__ int64_t coded_block_at(const DeviceMatrix& matrix, int64_t row, int64_t col) {
  const int64_t tile = row / kTileRows * k_tiles(matrix.dtype, matrix.cols) + col / kCodedColumns;
  return (tile * (kTileRows / kFragmentOutputs) + row % kTileRows / kFragmentOutputs) *
         coded_bytes(matrix.dtype);
}

// The 128-byte swizzle: among eight rows, the 16-byte chunks of row r change places by r (PTX ISA, "Matrix
// and tensor swizzling modes"). Any number of rows.
__host__ __device__ __forceinline__ int32_t swizzled_offset(int32_t row, int32_t byte) {
  return row * kTileBytes + (byte ^ ((row & 7) << 4));
}

// Of byte `byte` of output `row` in a tile of weights.
__host__ __device__ __forceinline__ int32_t tile_offset(TileOrder order, int32_t row, int32_t byte) {
  return order == TileOrder::kSwizzled ? swizzled_offset(row, byte) : fragment_offset(row, byte);
}

// Of byte `byte` of token `row` in a tile of activations (quantize.h).
__host__ __device__ __forceinline__ int32_t activation_offset(TileOrder order, int32_t row, int32_t byte) {
  return order == TileOrder::kSwizzled ? swizzled_offset(row, byte) : fragment_activation_offset(row, byte);
}

// Of a token's scale among those of its block. In swizzled order, four columns of 16 that a thread has in its
// accumulators lie together: 2 q and 2 q + 1 of either eight, for q = 0…3.
__host__ __device__ __forceinline__ int32_t activation_scale(TileOrder order, int32_t block_rows,
                                                             int32_t row) {
  if (order != TileOrder::kSwizzled || block_rows < 16) return row;
  return (row & ~15) | (row & 6) << 1 | (row & 8) >> 2 | (row & 1);
}

}  // namespace llmservice::gpu
