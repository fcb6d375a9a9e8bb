// The arithmetic that decides which token is drawn: every machine and backend gets the same bits from it.
// Only additions, multiplications and divisions, each rounded by itself (never fused), and integers; its twin
// on a device is backends/gpu/kernels/draw_math.h.
#pragma once

#include <bit>
#include <cstdint>

namespace llmservice {

// A softmax weight in (0, 1] as a number of 2^-39: sums of them have no order. What rounds to nothing counts
// nothing: all such tokens of a vocabulary hold less than 5e-7 of the likeliest one's weight.
inline uint64_t mass_of(float weight) { return static_cast<uint64_t>(weight * 0x1p39f); }

// Natural logarithm of a normal x > 0, to a few units in the last place: 2 atanh((m - 1) / (m + 1)) for the
// mantissa m in [sqrt(1/2), sqrt(2)), by the series of atanh.
inline double natural_log(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcd;
  const auto exponent = static_cast<int64_t>(bits - kRootHalf) >> 52;
  const auto mantissa = std::bit_cast<double>(bits - (static_cast<uint64_t>(exponent) << 52));
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double series = 1.0 / 23;
  for (int k = 21; k > 0; k -= 2) series = series * square + 1.0 / k;
  return static_cast<double>(exponent) * 0x1.62e42fefa39efp-1 + (s + s) * series;
}

// -log(weight) as a number of 2^-24, for a normal weight of at most 1.
constexpr int kSurpriseBits = 24;
inline uint64_t surprise_of(float weight) { return static_cast<uint64_t>(-natural_log(weight) * 0x1p24); }

}  // namespace llmservice
