// The elementwise ops whose results a product reads, four columns at a time (vectors.h): each stores them and
// returns them. Where `out` is null, the product is all that reads them.
#pragma once

#include <cmath>

#include "backends/gpu/kernels/vectors.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

__device__ __forceinline__ float sigmoid(float x) { return reciprocal(1.0f + expf(-x)); }

struct Silu {
  __device__ __forceinline__ static float of(float x) { return x * sigmoid(x); }
};

// Approximated by tanh: x/2 · (1 + tanh u) is x · sigmoid(2u), with u = √(2/π) · (x + 0.044715 x³).
struct Gelu {
  __device__ __forceinline__ static float of(float x) {
    return x * sigmoid(1.59576912f * fmaf(0.044715f * x * x, x, x));
  }
};

// x · Φ(x), by what is exact for large negative x too.
struct ErfGelu {
  __device__ __forceinline__ static float of(float x) { return 0.5f * x * erfcf(x * -0.70710678f); }
};

template <class Gate, bool kWhole>
struct GateMul {
  const float* gate_up;  // (T, 2 · width)
  int64_t width;
  float* out;

  __device__ __forceinline__ Float4 operator()(int64_t row, int64_t quad) const {
    const float* const from = gate_up + row * 2 * width;
    const Float4 gate = load_quad<kWhole>(from, quad * 4, width);
    Float4 values = load_quad<kWhole>(from + width, quad * 4, width);
#pragma unroll
    for (int i = 0; i < 4; ++i) values.v[i] *= Gate::of(gate.v[i]);
    if (out != nullptr) store_quad<kWhole>(out + row * width, quad * 4, width, values);
    return values;
  }
};

template <bool kWhole>
using SiluMul = GateMul<Silu, kWhole>;
template <bool kWhole>
using GeluMul = GateMul<Gelu, kWhole>;
template <bool kWhole>
using ErfGeluMul = GateMul<ErfGelu, kWhole>;

// Of pairs of a row and one of its experts: the expert's bias joins before the gate opens, which may be
// clamped (ClampedSwiglu of ops/ops.h).
template <bool kWhole>
struct ExpertGateMul {
  const float* gate_up;    // (pairs, 2 · width)
  const float* bias;       // (experts, 2 · width); null: none
  const int32_t* experts;  // (pairs) where there is a bias
  float limit;             // 0: SiLU
  float alpha;
  int64_t width;

  __device__ __forceinline__ Float4 operator()(int64_t row, int64_t quad) const {
    const float* const from = gate_up + row * 2 * width;
    Float4 gates = load_quad<kWhole>(from, quad * 4, width);
    Float4 values = load_quad<kWhole>(from + width, quad * 4, width);
    if (bias != nullptr) {
      const float* const own = bias + experts[row] * 2 * width;
      const Float4 gate_bias = load_quad<kWhole>(own, quad * 4, width);
      const Float4 up_bias = load_quad<kWhole>(own + width, quad * 4, width);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        gates.v[i] += gate_bias.v[i];
        values.v[i] += up_bias.v[i];
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) values.v[i] = opened(gates.v[i], values.v[i]);
    return values;
  }

 private:
  // What is no number stays none.
  __device__ __forceinline__ float opened(float gate, float up) const {
    if (limit == 0) return Silu::of(gate) * up;
    gate = gate > limit ? limit : gate;
    up = up > limit ? limit : up < -limit ? -limit : up;
    return (up + 1.0f) * (gate * sigmoid(alpha * gate));
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
