// Kernels over one row: norms, activations, rotary embedding. Tails use masked lanes and the same functions,
// so that where a value lies in its vector never shows in its bits.
#pragma once

#include <cstdint>

#include "backends/cpu/lanes_math.h"
#include "ops/ops.h"

namespace llmservice::cpu {

// Calls body(offset, n) for each group of lanes; n < 16 only in the last.
template <class L, class Body>
void for_lanes(int64_t count, Body body) {
  int64_t i = 0;
  for (; i + L::kCount <= count; i += L::kCount) body(i, L::kCount);
  if (i < count) body(i, static_cast<int>(count - i));
}

template <class L>
float sum_of_squares(const float* x, int64_t dim) {
  constexpr int64_t kChains = 4;  // which hide the latency of the fma
  L acc[kChains] = {L::zero(), L::zero(), L::zero(), L::zero()};
  const auto add = [&](L value, L& chain) { chain = fma(value, value, chain); };
  int64_t i = 0;
  for (; i + kChains * L::kCount <= dim; i += kChains * L::kCount) {
    for (int64_t j = 0; j < kChains; ++j) add(L::load(x + i + j * L::kCount), acc[j]);
  }
  for (int64_t j = 0; j < kChains; ++j, i += L::kCount) {
    const int64_t left = dim - i;
    if (left > 0) add(L::load(x + i, static_cast<int>(left < L::kCount ? left : L::kCount)), acc[j]);
  }
  return sum((acc[0] + acc[1]) + (acc[2] + acc[3]));
}

template <class L>
void rms_norm(const float* x, const float* weight, float eps, int64_t dim, float* out) {
  const float mean = sum_of_squares<L>(x, dim) / static_cast<float>(dim);
  const L scale = L::set(1.0f / __builtin_sqrtf(mean + eps));
  for_lanes<L>(
      dim, [&](int64_t i, int n) { (L::load(x + i, n) * scale * L::load(weight + i, n)).store(out + i, n); });
}

// Squares are those of differences from the mean, which is subtracted first.
template <class L>
void layer_norm(const float* x, const float* weight, float eps, int64_t dim, float* out) {
  L acc[4] = {L::zero(), L::zero(), L::zero(), L::zero()};
  for_lanes<L>(dim, [&](int64_t i, int n) {
    L& chain = acc[i / L::kCount % 4];
    chain = chain + L::load(x + i, n);
  });
  const L mean = L::set(sum((acc[0] + acc[1]) + (acc[2] + acc[3])) / static_cast<float>(dim));
  for (L& chain : acc) chain = L::zero();
  for_lanes<L>(dim, [&](int64_t i, int n) {
    L from_mean = L::load(x + i, n) - mean;
    if (n < L::kCount) from_mean = from_mean.first(n);
    L& chain = acc[i / L::kCount % 4];
    chain = fma(from_mean, from_mean, chain);
  });
  const float variance = sum((acc[0] + acc[1]) + (acc[2] + acc[3])) / static_cast<float>(dim);
  const L scale = L::set(1.0f / __builtin_sqrtf(variance + eps));
  for_lanes<L>(dim, [&](int64_t i, int n) {
    ((L::load(x + i, n) - mean) * scale * L::load(weight + i, n)).store(out + i, n);
  });
}

template <class L>
void gated_rms_norm(const float* x, const float* z, const float* weight, float eps, int64_t dim, float* out) {
  const float mean = sum_of_squares<L>(x, dim) / static_cast<float>(dim);
  const L scale = L::set(1.0f / __builtin_sqrtf(mean + eps));
  for_lanes<L>(dim, [&](int64_t i, int n) {
    const L normal = L::load(x + i, n) * scale * L::load(weight + i, n);
    (normal * silu(L::load(z + i, n))).store(out + i, n);
  });
}

// out = x / sqrt(Σx² + 1e-6) · scale: a sum, not a mean, as the delta rule wants.
template <class L>
void l2_normalize(const float* x, int64_t dim, float scale, float* out) {
  const L factor = L::set(scale / __builtin_sqrtf(sum_of_squares<L>(x, dim) + 1e-6f));
  for_lanes<L>(dim, [&](int64_t i, int n) { (L::load(x + i, n) * factor).store(out + i, n); });
}

template <class L>
void add(float* x, const float* y, int64_t count) {
  for_lanes<L>(count, [&](int64_t i, int n) { (L::load(x + i, n) + L::load(y + i, n)).store(x + i, n); });
}

// Whether no value is a NaN or an infinity: zero times either is NaN, which every sum keeps.
template <class L>
bool all_finite(const float* x, int64_t count) {
  L acc[4] = {L::zero(), L::zero(), L::zero(), L::zero()};
  for_lanes<L>(count, [&](int64_t i, int n) {
    L& chain = acc[i / L::kCount % 4];
    chain = fma(L::load(x + i, n), L::zero(), chain);
  });
  return sum((acc[0] + acc[1]) + (acc[2] + acc[3])) == 0;
}

// x += scale · y.
template <class L>
void add_scaled(float* x, const float* y, float scale, int64_t count) {
  const L factor = L::set(scale);
  for_lanes<L>(count,
               [&](int64_t i, int n) { fma(factor, L::load(y + i, n), L::load(x + i, n)).store(x + i, n); });
}

// x += sigmoid(gate) · y.
template <class L>
void add_gated(float* x, const float* y, float gate, int64_t count) {
  float opened[L::kCount];
  sigmoid(L::set(gate)).store(opened);
  add_scaled<L>(x, y, opened[0], count);
}

template <class L>
void silu_mul(const float* gate, const float* up, int64_t count, float* out) {
  for_lanes<L>(
      count, [&](int64_t i, int n) { (silu(L::load(gate + i, n)) * L::load(up + i, n)).store(out + i, n); });
}

template <class L>
void sigmoid_mul(float* x, const float* gate, int64_t count) {
  for_lanes<L>(
      count, [&](int64_t i, int n) { (L::load(x + i, n) * sigmoid(L::load(gate + i, n))).store(x + i, n); });
}

template <class L>
void scale(float* x, int64_t count, float factor) {
  const L by = L::set(factor);
  for_lanes<L>(count, [&](int64_t i, int n) { (L::load(x + i, n) * by).store(x + i, n); });
}

template <class L>
void gelu_mul(const float* gate, const float* up, int64_t count, float* out) {
  for_lanes<L>(
      count, [&](int64_t i, int n) { (gelu(L::load(gate + i, n)) * L::load(up + i, n)).store(out + i, n); });
}

template <class L>
void erf_gelu_mul(const float* gate, const float* up, int64_t count, float* out) {
  for_lanes<L>(count, [&](int64_t i, int n) {
    (erf_gelu(L::load(gate + i, n)) * L::load(up + i, n)).store(out + i, n);
  });
}

template <class L>
void cap(float* x, int64_t count, float limit) {
  for_lanes<L>(count, [&](int64_t i, int n) { capped(L::load(x + i, n), limit).store(x + i, n); });
}

template <class L>
void clamped_swiglu(const float* gate, const float* up, int64_t count, const ClampedSwiglu& form,
                    float* out) {
  const L limit = L::set(form.limit);
  const L lowest = L::set(-form.limit);
  const L alpha = L::set(form.alpha);
  const L one = L::set(1.0f);
  for_lanes<L>(count, [&](int64_t i, int n) {
    const L g = min(limit, L::load(gate + i, n));
    const L u = max(lowest, min(limit, L::load(up + i, n)));
    ((u + one) * (g * sigmoid(g * alpha))).store(out + i, n);
  });
}

// Rotates the pair (head[i], head[i + half]) by the angle whose cos and sin are given.
template <class L>
void rotate(float* head, int64_t half, const float* cos, const float* sin) {
  for_lanes<L>(half, [&](int64_t i, int n) {
    const L a = L::load(head + i, n);
    const L b = L::load(head + half + i, n);
    const L c = L::load(cos + i, n);
    const L s = L::load(sin + i, n);
    (a * c - b * s).store(head + i, n);
    (b * c + a * s).store(head + half + i, n);
  });
}

}  // namespace llmservice::cpu
