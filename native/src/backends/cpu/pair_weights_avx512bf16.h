// Readers of weight pairs: each step of one gives some pairs of columns of 32 outputs, a pair as two
// registers of dot-product lanes. Include only from *avx512bf16*.cpp, which alone are compiled for that
// family.
#pragma once

#include <immintrin.h>

#include <climits>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels.h"

namespace llmservice::cpu {
namespace {

// Where a K block's weights lie, from its first output on.
struct PairPlace {
  const std::byte* weights;
  const std::byte* high = nullptr;  // bits of codes that lie apart
};

// BF16, as it lies.
struct Bf16Pairs {
  static constexpr int kStepPairs = 1;
  static constexpr int64_t kHalfBytes = 128;  // of a step of 32 outputs
  static constexpr int64_t kSharedBytes = 0;  // with a step of 32 outputs
  static constexpr bool kFetchesAlone = false;
  static constexpr int kFewRows = INT_MAX;  // up to which weights go to registers, anew in each pass
  static constexpr int kMaxRows = 6;        // 6 × 4 sums, 4 weights and an activation fill 32 registers
  static constexpr int kWideRows = 6;       // up to which a pass takes all 64 outputs at once

  explicit Bf16Pairs(const PairPlace& place) : at_(place.weights) {}

  struct Step {
    __m512i low, high;
  };
  Step read(int64_t step, int64_t half) const {
    const std::byte* const at = at_ + (2 * step + half) * kHalfBytes;
    return {_mm512_loadu_si512(at), _mm512_loadu_si512(at + 64)};
  }
  template <int>
  void take(const Step& step, __m512bh& low, __m512bh& high) const {
    low = (__m512bh)step.low;
    high = (__m512bh)step.high;
  }

 private:
  const std::byte* at_;
};

// The BF16 of each e4m3 magnitude divided by 256, as scales expect it (widening_factor), in two bytes. All
// are normal numbers, so that no dot product flushes one to zero.
struct E4m3Bytes {
  alignas(64) uint8_t low[128];
  alignas(64) uint8_t high[128];
};

constexpr uint32_t bf16_of_e4m3(uint32_t magnitude) {
  const uint32_t exponent = magnitude >> 3;
  const uint32_t mantissa = magnitude & 7;
  if (magnitude == 0x7f) return 0x7fc0;  // NaN
  // Bias 7 becomes 127, less the 8 of the division.
  if (exponent != 0) return (exponent + 127 - 7 - 8) << 7 | mantissa << 4;
  if (mantissa == 0) return 0;
  // mantissa · 2^-17: its highest bit becomes the implicit one.
  const uint32_t top = mantissa >= 4 ? 2 : mantissa >= 2 ? 1 : 0;
  return (127 - 17 + top) << 7 | ((mantissa << (7 - top)) & 0x7f);
}

constexpr E4m3Bytes make_e4m3_bytes() {
  E4m3Bytes bytes{};
  for (uint32_t code = 0; code < 128; ++code) {
    bytes.low[code] = static_cast<uint8_t>(bf16_of_e4m3(code));
    bytes.high[code] = static_cast<uint8_t>(bf16_of_e4m3(code) >> 8);
  }
  return bytes;
}

constexpr E4m3Bytes kE4m3Bytes = make_e4m3_bytes();

// FP8, by one permute per byte of the result: the permute ignores the sign, which is put in afterwards. Bytes
// then interleave within 128-bit lanes; the codes' order before makes up for that.
class Fp8Pairs {
 public:
  static constexpr int kStepPairs = 1;
  static constexpr int64_t kHalfBytes = 64;
  static constexpr int64_t kSharedBytes = 0;  // with a step of 32 outputs
  static constexpr bool kFetchesAlone = false;
  static constexpr int kFewRows = 16;
  static constexpr int kMaxRows = 8;   // 8 × 2 sums, 2 weights, an activation and the tables
  static constexpr int kWideRows = 4;  // 4 × 4 sums and 4 weights leave room for them too

  explicit Fp8Pairs(const PairPlace& place) : at_(place.weights) {}

  using Step = __m512i;
  Step read(int64_t step, int64_t half) const {
    return _mm512_loadu_si512(at_ + (2 * step + half) * kHalfBytes);
  }
  template <int>
  void take(Step step, __m512bh& low, __m512bh& high) const {
    const __m512i codes = _mm512_permutexvar_epi64(order_, step);
    const __m512i lower = _mm512_permutex2var_epi8(low_[0], codes, low_[1]);
    const __m512i magnitude = _mm512_permutex2var_epi8(high_[0], codes, high_[1]);
    const __m512i upper = _mm512_ternarylogic_epi32(magnitude, codes, sign_, 0xf8);  // a | (b & c)
    low = (__m512bh)_mm512_unpacklo_epi8(lower, upper);
    high = (__m512bh)_mm512_unpackhi_epi8(lower, upper);
  }

 private:
  const std::byte* at_;
  const __m512i low_[2] = {_mm512_load_si512(kE4m3Bytes.low), _mm512_load_si512(kE4m3Bytes.low + 64)};
  const __m512i high_[2] = {_mm512_load_si512(kE4m3Bytes.high), _mm512_load_si512(kE4m3Bytes.high + 64)};
  const __m512i sign_ = _mm512_set1_epi8(static_cast<char>(0x80));
  const __m512i order_ = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
};

}  // namespace
}  // namespace llmservice::cpu
