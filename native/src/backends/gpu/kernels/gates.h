// The elementwise ops whose results a product reads, four columns at a time (vectors.h): each stores them and
// returns them. Where `out` is null, the product is all that reads them.
#pragma once

#include <cmath>

#include "backends/gpu/kernels/vectors.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

__device__ __forceinline__ float sigmoid(float x) { return reciprocal(1.0f + expf(-x)); }

template <bool kWhole>
struct SiluMul {
  const float* gate_up;  // (T, 2 · width)
  int64_t width;
  float* out;

  __device__ __forceinline__ Float4 operator()(int64_t row, int64_t quad) const {
    const float* const from = gate_up + row * 2 * width;
    const Float4 gate = load_quad<kWhole>(from, quad * 4, width);
    Float4 values = load_quad<kWhole>(from + width, quad * 4, width);
#pragma unroll
    for (int i = 0; i < 4; ++i) values.v[i] = gate.v[i] * sigmoid(gate.v[i]) * values.v[i];
    if (out != nullptr) store_quad<kWhole>(out + row * width, quad * 4, width, values);
    return values;
  }
};

template <bool kWhole>
struct SigmoidMul {
  float* x;
  const float* gate;
  int64_t gate_stride;
  int64_t width;

  __device__ __forceinline__ Float4 operator()(int64_t row, int64_t quad) const {
    const Float4 gates = load_quad<kWhole>(gate + row * gate_stride, quad * 4, width);
    Float4 values = load_quad<kWhole>(x + row * width, quad * 4, width);
#pragma unroll
    for (int i = 0; i < 4; ++i) values.v[i] *= sigmoid(gates.v[i]);
    store_quad<kWhole>(x + row * width, quad * 4, width, values);
    return values;
  }
};

}  // namespace llmservice::gpu
