// One element of d that Hopper's wgmma works out. All terms, d among them, are cut towards zero to so many
// binary digits after the point of the term of the largest exponent; their sum is exact, and is cut to as
// many digits of its own, or to float's 23. FP8 has 13 digits, types of 16 bits have 25. A product's exponent
// is the sum of its factors' exponents. Sources: "MMA-Sim" (arXiv 2511.10909), whose model gives the bits of
// an H100; DeepSeek-V3's report (arXiv 2412.19437, 3.5.2), which measured FP8's 14 bits with the one before
// the point.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/dtype.h"

namespace llmservice::gpu {

// A factor, which a double holds exactly.
struct WgmmaNumber {
  double value;
  int exponent;
};

constexpr int wgmma_digits(DType dtype) { return dtype == DType::kF8E4M3 ? 13 : 25; }

// Subnormal numbers have the exponent of the smallest normal one. Zero's is below all, and so little that
// infinity times zero still has more than any finite product.
inline WgmmaNumber wgmma_number(double value, int smallest_exponent) {
  if (value == 0) return {value, -600};
  const auto exponent = static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7ff) - 1023;
  return {value, std::max(exponent, smallest_exponent)};
}
inline WgmmaNumber wgmma_number(DType dtype, float value) {
  return wgmma_number(value, dtype == DType::kF8E4M3 ? -6 : dtype == DType::kF16 ? -14 : -126);
}

// Σ_k a[k] · b[k] + d over the K of one instruction.
inline float wgmma_sum(DType dtype, std::span<const WgmmaNumber> a, std::span<const WgmmaNumber> b, float d) {
  constexpr int kLargestFinite = 2 * 127 + 1;
  const int digits = wgmma_digits(dtype);
  int top = wgmma_number(d, -126).exponent;
  for (size_t k = 0; k < a.size(); ++k) top = std::max(top, a[k].exponent + b[k].exponent);
  if (top > kLargestFinite) {
    double sum = d;
    for (size_t k = 0; k < a.size(); ++k) sum += a[k].value * b[k].value;
    return static_cast<float>(sum);
  }
  const auto power_of_two = [](int exponent) {
    return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
  };
  const double digit = power_of_two(digits - top);
  auto sum = static_cast<int64_t>(d * digit);
  for (size_t k = 0; k < a.size(); ++k) sum += static_cast<int64_t>(a[k].value * b[k].value * digit);
  const double exact = static_cast<double>(sum) * power_of_two(top - digits);
  const uint64_t below = (uint64_t{1} << (52 - std::min(digits, 23))) - 1;
  return static_cast<float>(std::bit_cast<double>(std::bit_cast<uint64_t>(exact) & ~below));
}

}  // namespace llmservice::gpu
