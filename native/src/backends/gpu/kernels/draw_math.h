// The arithmetic of engine/draw_math.h, noise.h and vocab_math.h on a device: bit for bit theirs, so that
// both draw the same token. Every operation is rounded by itself.
#pragma once

#include <cmath>

#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

// Uniform in (0, 1), 53 bits: a pure function of the request's key and the token.
__device__ __forceinline__ double uniform(uint64_t key, int32_t token) {
  uint64_t x = key + (static_cast<uint64_t>(token) + 1) * kGolden;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  x ^= x >> 31;
  return unfused_mul(unfused_add(static_cast<double>(x >> 11), 0.5), 0x1p-53);
}

// exp(x) for x <= 0, and 0 below -87.
__device__ __forceinline__ float exp_nonpositive(float x) {
  constexpr float kRound = 12582912.0f;
  const float clamped = x < -87.0f ? -87.0f : x;
  const float shifted = unfused_add(unfused_mul(clamped, 1.44269504f), kRound);
  const float n = unfused_add(shifted, -kRound);
  const float r =
      unfused_add(unfused_add(clamped, -unfused_mul(n, 0.693359375f)), unfused_mul(n, 2.12194440e-4f));
  float p = 1.38888889e-3f;
  p = unfused_add(unfused_mul(p, r), 8.33333333e-3f);
  p = unfused_add(unfused_mul(p, r), 4.16666667e-2f);
  p = unfused_add(unfused_mul(p, r), 1.66666667e-1f);
  p = unfused_add(unfused_mul(p, r), 0.5f);
  p = unfused_add(unfused_mul(p, r), 1.0f);
  p = unfused_add(unfused_mul(p, r), 1.0f);
  const uint32_t power = bits_of(shifted) - bits_of(kRound);
  return x < -87.0f ? 0.0f : unfused_mul(p, float_of((power + 127) << 23));
}

__device__ __forceinline__ double natural_log(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcd;
  const int64_t exponent = static_cast<int64_t>(bits - kRootHalf) >> 52;
  bits -= static_cast<uint64_t>(exponent) << 52;
  double mantissa;
  memcpy(&mantissa, &bits, sizeof mantissa);
  const double s = unfused_add(mantissa, -1.0) / unfused_add(mantissa, 1.0);
  const double square = unfused_mul(s, s);
  double series = 1.0 / 23;
#pragma unroll
  for (int k = 21; k > 0; k -= 2) series = unfused_add(unfused_mul(series, square), 1.0 / k);
  return unfused_add(unfused_mul(static_cast<double>(exponent), 0x1.62e42fefa39efp-1),
                     unfused_mul(unfused_add(s, s), series));
}

// A softmax weight in (0, 1] as a number of 2^-39.
constexpr int kMassBits = 39;
__device__ __forceinline__ uint64_t mass_of(float weight) {
  return static_cast<uint64_t>(unfused_mul(weight, 0x1p39f));
}

// -log(weight) as a number of 2^-24.
constexpr int kSurpriseBits = 24;
__device__ __forceinline__ uint64_t surprise_of(float weight) {
  return static_cast<uint64_t>(unfused_mul(-natural_log(weight), 0x1p24));
}

// What a prefix has to reach to hold `share` of `total`; at least something.
__device__ __forceinline__ uint64_t wanted_of(uint64_t total, float share) {
  const auto wanted =
      static_cast<uint64_t>(ceil(unfused_mul(static_cast<double>(total), static_cast<double>(share))));
  return wanted > 0 ? wanted : 1;
}

// Orders tokens by logit, of equal ones the lower id above: the largest rank is the argmax.
__device__ __forceinline__ uint64_t rank_of(float logit, int32_t token) {
  const uint32_t bits = bits_of(logit + 0.0f);  // one zero
  const uint32_t ordered = (bits >> 31) != 0 ? ~bits : bits | 0x80000000;
  return static_cast<uint64_t>(ordered) << 32 | ~static_cast<uint32_t>(token);
}
__device__ __forceinline__ int32_t token_of(uint64_t rank) {
  return static_cast<int32_t>(~static_cast<uint32_t>(rank));
}
__device__ __forceinline__ float logit_of(uint64_t rank) {
  const auto ordered = static_cast<uint32_t>(rank >> 32);
  return float_of((ordered >> 31) != 0 ? ordered & 0x7fffffff : ~ordered);
}

// Orders tokens for truncation, the first to be kept below: by weight, or by distance from the expected
// surprise, then by id.
constexpr int kTokenBits = 22;
constexpr int kOrderBits = 31 + kTokenBits;
__device__ __forceinline__ uint32_t weight_order(float weight) { return 0x3f800000 - bits_of(weight); }
__device__ __forceinline__ uint64_t order_of(uint64_t value, int32_t token) {
  return value << kTokenBits | static_cast<uint32_t>(token);
}

}  // namespace llmservice::gpu
