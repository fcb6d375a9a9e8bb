// Where the bytes of tiles in TileOrder::kFragments lie: as the lanes of a warp take them, vector after
// vector of 16 bytes, the first of all lanes before the second.
#pragma once

#include "backends/gpu/kernels/matrix.h"
#include "backends/gpu/vendor/fragments.h"

namespace llmservice::gpu {

constexpr int32_t kStripBytes = kFragmentOutputs * kTileBytes;

// Of byte `byte` of output `row` in a tile of weights: four strips of 16 outputs. Where a lane holds two
// outputs, a vector is one instruction's operand; else it is those of two.
__host__ __device__ constexpr int32_t fragment_offset(int32_t row, int32_t byte) {
  const int32_t strip = row / kFragmentOutputs * kStripBytes;
  const int32_t output = row % kFragmentOutputs;
  const int32_t quarter = byte % 64 / 16;
  if (kWarpSize == 64) return strip + (byte / 64 * 64 + quarter * 16 + output) * 16 + byte % 16;
  const int32_t vector = (byte / 64 * 2 + byte % 16 / 8) * kWarpSize + output % 8 * 4 + quarter;
  return strip + vector * 16 + byte % 8 / 4 * 8 + output / 8 * 4 + byte % 4;
}

// Of byte `byte` of token `row`, of kFragmentTokens, in a tile of activations.
__host__ __device__ constexpr int32_t fragment_activation_offset(int32_t row, int32_t byte) {
  const int32_t quarter = byte % 64 / 16;
  const int32_t lane = kWarpSize == 64 ? quarter * 16 + row : row * 4 + quarter;
  return (byte / 64 * kWarpSize + lane) * 16 + byte % 16;
}

}  // namespace llmservice::gpu
