// Where the bytes of tiles in TileOrder::kFragments lie.
#pragma once

#include "backends/gpu/kernels/matrix.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

// Of byte `byte` of output `row` in a tile of weights.
__host__ __device__ __forceinline__ int32_t fragment_offset(int32_t row, int32_t byte) {
  return row * kTileBytes + byte;
}

// Of byte `byte` of token `row` in a tile of activations.
__host__ __device__ __forceinline__ int32_t fragment_activation_offset(int32_t row, int32_t byte) {
  return row * kTileBytes + byte;
}

}  // namespace llmservice::gpu
