// Sums and maxima over a warp or a block. Every lane gets the result; the order of the additions is fixed.
#pragma once

#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

constexpr int kMaxWarps = 1024 / kWarpSize;

struct Sum {
  static constexpr float kNone = 0.0f;
  __device__ __forceinline__ static float of(float a, float b) { return a + b; }
};

struct Max {
  static constexpr float kNone = -__builtin_huge_valf();
  __device__ __forceinline__ static float of(float a, float b) { return a > b ? a : b; }
};

// Over `lanes` neighbours, a power of two.
template <class Op, int lanes = kWarpSize>
__device__ __forceinline__ float reduce_warp(float value) {
#pragma unroll
  for (int mask = lanes / 2; mask > 0; mask /= 2) value = Op::of(value, shuffle_xor(value, mask));
  return value;
}

// All threads of the block call it, which has at most kMaxWarps warps, all of them whole.
template <class Op>
__device__ __forceinline__ float reduce_block(float value) {
  __shared__ float partial[kMaxWarps];
  value = reduce_warp<Op>(value);
  sync_block();  // `partial` may still be read, from the reduction before
  if (lane_id() == 0) partial[warp_id()] = value;
  sync_block();
  const int warps = static_cast<int>(blockDim.x) / kWarpSize;
  float total = Op::kNone;
  for (int i = 0; i < warps; ++i) total = Op::of(total, partial[i]);
  return total;
}

}  // namespace llmservice::gpu
