// What rows.cu and the fused launch both do to a head, with every rounding written out, so that they give the
// same bits.
#pragma once

#include <cmath>

#include "backends/gpu/kernels/reduce.h"

namespace llmservice::gpu {

// 1 / rms of a head, by a warp.
__device__ __forceinline__ float head_scale(const float* head, int32_t dim, float eps) {
  float squares = 0;
  for (int i = lane_id(); i < dim; i += kWarpSize) squares = fmaf(head[i], head[i], squares);
  return 1.0f / sqrtf(reduce_warp<Sum>(squares) / static_cast<float>(dim) + eps);
}

// Turns the pair (low, high) by the angle with this cosine and sine.
__device__ __forceinline__ void rotate(float& low, float& high, float cos, float sin) {
  const float turned = fmaf(low, cos, -high * sin);
  high = fmaf(high, cos, low * sin);
  low = turned;
}

}  // namespace llmservice::gpu
