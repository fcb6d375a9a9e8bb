// The elementwise ops whose results a product reads, value by value: each stores one and returns it. Where
// `out` is null, the product is all that reads them.
#pragma once

#include <cmath>

#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

__device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

struct SiluMul {
  const float* gate_up;  // (T, 2 · width)
  int64_t width;
  float* out;

  __device__ __forceinline__ float operator()(int64_t row, int64_t i) const {
    const float* const from = gate_up + row * 2 * width;
    const float value = from[i] * sigmoid(from[i]) * from[width + i];
    if (out != nullptr) out[row * width + i] = value;
    return value;
  }
};

struct SigmoidMul {
  float* x;
  const float* gate;
  int64_t gate_stride;
  int64_t width;

  __device__ __forceinline__ float operator()(int64_t row, int64_t i) const {
    return x[row * width + i] *= sigmoid(gate[row * gate_stride + i]);
  }
};

}  // namespace llmservice::gpu
