// The sums that a warp has behind it at the end of a slice of K, while it adds up the next slice of the same
// outputs from zero: in a place of its own, which it takes for piece after piece, so that it stays in the L2.
#pragma once

#include "backends/gpu/kernels/swizzled_tile.h"
#include "backends/gpu/kernels/vectors.h"

namespace llmservice::gpu {

// Of a warp: (kTokens / 8, lanes, 4), as accumulators lie.
template <int kTokens>
constexpr int kCarriedFloats = kTokens * 16;

// `carried`: this lane's first four.
template <DType dtype, int kTokens>
__device__ __forceinline__ void add_carried(Tile<dtype, kTokens>& tile, const float* carried) {
  // All of a batch are read before the first is added, so that many reads are under way.
  constexpr int kFours = kTokens < 64 ? kTokens / 8 : 8;
#pragma unroll
  for (int at = 0; at < kTokens / 8; at += kFours) {
    Float4 before[kFours];
#pragma unroll
    for (int i = 0; i < kFours; ++i) before[i] = load_floats<4>(carried + (at + i) * 4 * kWarpSize);
#pragma unroll
    for (int i = 0; i < kFours; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) tile.sum((at + i) * 4 + j) += before[i].v[j];
    }
  }
}

template <DType dtype, int kTokens>
__device__ __forceinline__ void carry(Tile<dtype, kTokens>& tile, float* carried) {
#pragma unroll
  for (int i = 0; i < kTokens / 2; i += 4) {
    store_floats<4>(carried + i * kWarpSize,
                    {{tile.sum(i), tile.sum(i + 1), tile.sum(i + 2), tile.sum(i + 3)}});
  }
}

}  // namespace llmservice::gpu
