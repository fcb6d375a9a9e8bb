// Where attention cuts KV: splits at fixed absolute positions, longer ones further on. Short contexts get
// enough of them to fill a device, and long ones do not spend their time on putting them together:
//   from 0       256 positions each: 32
//   from 8,192   512 positions each: 48
//   from 32,768  1,024 positions each
// Their borders are multiples of every kernel's tile.
#pragma once

#include <cmath>

#include "backends/gpu/vendor/mma.h"
#include "ops/ops.h"

namespace llmservice::gpu {

__host__ __device__ __forceinline__ int32_t split_of(int32_t position) {
  if (position < 8192) return position / 256;
  if (position < 32768) return 32 + (position - 8192) / 512;
  return 80 + (position - 32768) / 1024;
}

__host__ __device__ __forceinline__ int32_t split_begin(int32_t split) {
  if (split < 32) return split * 256;
  if (split < 80) return 8192 + (split - 32) * 512;
  return 32768 + (split - 80) * 1024;
}

__device__ __forceinline__ int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

// As first_seen of ops.h.
__device__ __forceinline__ int32_t first_visible(const AttentionShape& shape, int32_t position) {
  const bool whole = shape.window == 0 || position - shape.first < shape.window;
  return whole ? shape.first : position - shape.window + 1;
}

// A row's sums over the splits so far: Σ e · value of one feature, with e = 2^(score - top), and Σ e.
struct Running {
  float top = -__builtin_huge_valf();
  float total = 0;
};

// Brings two maxima together: what has been summed below each is to be multiplied by `before` and `now`.
// Nothing seen yet, or nothing in this split, leaves the other side's bits as they are.
struct Fold {
  float before;
  float now;
  __device__ __forceinline__ Fold(Running& running, float top, float total) {
    const float most = fmaxf(running.top, top);
    const float shift = most == -__builtin_huge_valf() ? 0.0f : most;
    before = fast_exp2(running.top - shift);
    now = fast_exp2(top - shift);
    running.top = most;
    running.total = fmaf(running.total, before, separate_product(total, now));
  }
  __device__ __forceinline__ float operator()(float running, float value) const {
    return fmaf(running, before, separate_product(value, now));
  }
};

}  // namespace llmservice::gpu
