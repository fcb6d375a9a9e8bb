// Readers of weight pairs: each load gives 32 outputs' pairs of BF16 as two registers of dot-product lanes.
// Include only from *avx512bf16*.cpp, which alone are compiled for that family.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace llmservice::cpu {
namespace {

// BF16, as it lies.
struct Bf16Pairs {
  static constexpr int64_t kHalfBytes = 128;  // of a pair of 32 outputs
  static constexpr int kMaxRows = 6;          // 6 × 4 sums, 4 weights and an activation fill 32 registers
  static constexpr int kWideRows = 6;         // up to which a pass takes all 64 outputs at once

  void load(const std::byte* at, __m512bh& low, __m512bh& high) const {
    low = (__m512bh)_mm512_loadu_si512(at);
    high = (__m512bh)_mm512_loadu_si512(at + 64);
  }
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
  static constexpr int64_t kHalfBytes = 64;
  static constexpr int kMaxRows = 8;   // 8 × 2 sums, 2 weights, an activation and the tables
  static constexpr int kWideRows = 4;  // 4 × 4 sums and 4 weights leave room for them too

  void load(const std::byte* at, __m512bh& low, __m512bh& high) const {
    const __m512i codes = _mm512_permutexvar_epi64(order_, _mm512_loadu_si512(at));
    const __m512i lower = _mm512_permutex2var_epi8(low_[0], codes, low_[1]);
    const __m512i magnitude = _mm512_permutex2var_epi8(high_[0], codes, high_[1]);
    const __m512i upper = _mm512_ternarylogic_epi32(magnitude, codes, sign_, 0xf8);  // a | (b & c)
    low = (__m512bh)_mm512_unpacklo_epi8(lower, upper);
    high = (__m512bh)_mm512_unpackhi_epi8(lower, upper);
  }

 private:
  const __m512i low_[2] = {_mm512_load_si512(kE4m3Bytes.low), _mm512_load_si512(kE4m3Bytes.low + 64)};
  const __m512i high_[2] = {_mm512_load_si512(kE4m3Bytes.high), _mm512_load_si512(kE4m3Bytes.high + 64)};
  const __m512i sign_ = _mm512_set1_epi8(static_cast<char>(0x80));
  const __m512i order_ = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
};

}  // namespace
}  // namespace llmservice::cpu
