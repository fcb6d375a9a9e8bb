// Sixteen float lanes in two AVX2 registers (with FMA and F16C). Include only from *avx2*.cpp, which alone
// are compiled for that family. Meanings and orders are those of simd_portable.h, bit for bit.
#pragma once

#include <immintrin.h>

#include <climits>
#include <cstdint>
#include <cstring>

#include "backends/cpu/kernels.h"
#include "ops/block_types.h"

namespace llmservice::cpu {

struct Avx2Lanes {
  static constexpr int kCount = 16;
  static constexpr int kBlockVectors = 1;  // 6 × 2 sums, 2 operands and a broadcast fill 16 registers
  // Sums for as many rows and outputs fit 16 registers beside what widens weights, which pairs and words of
  // codes need more of; with fewer sums each multiply-add waits for the one before.
  static constexpr int direct_rows(Held held) { return held == Held::kPairs ? 5 : 6; }
  static constexpr int max_passes(Held held) { return held == Held::kWords ? 4 : INT_MAX; }
  static constexpr int walked_vectors(int rows, Held held) {
    if (rows == 1 && held == Held::kPairs) return 4;
    return rows == 1 || (rows == 2 && held != Held::kPairs) ? 2 : 1;
  }
  __m256 low;
  __m256 high;

  static Avx2Lanes set(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static Avx2Lanes zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  static Avx2Lanes load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  static Avx2Lanes load(const float* p, int n) {
    return {_mm256_maskload_ps(p, first_lanes(n)), _mm256_maskload_ps(p + 8, first_lanes(n - 8))};
  }
  static Avx2Lanes load_bf16(const uint16_t* p, int n) {
    const Elements<uint16_t> from(p, n);
    return {widen_bf16(from.low()), widen_bf16(from.high())};
  }
  // See simd_avx512.h.
  using Staged = uint16_t;
  template <int V>
  static void stage_fp8(const uint8_t* p, Staged* out) {
    for (int i = 0; i < V * kCount; i += 16) {
      const __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)(p + i)));
      _mm256_storeu_si256((__m256i*)(out + i), to_half(_mm256_slli_epi16(wide, 7)));
    }
  }
  template <int V>
  static void stage_fp8_pairs(const uint8_t* p, Staged* low, Staged* high) {
    for (int i = 0; i < V * kCount; i += 16) {
      const __m256i pairs = _mm256_loadu_si256((const __m256i*)(p + 2 * i));
      const __m256i lower = _mm256_slli_epi16(pairs, 8);
      _mm256_storeu_si256((__m256i*)(low + i), to_half(_mm256_srai_epi16(lower, 1)));
      _mm256_storeu_si256((__m256i*)(high + i), to_half(_mm256_srai_epi16(pairs, 1)));
    }
  }
  static Avx2Lanes load_fp8(const uint8_t* p, int n) {
    uint8_t codes[16] = {};
    std::memcpy(codes, p, n);
    const __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)codes));
    const __m256i halves = to_half(_mm256_slli_epi16(wide, 7));
    return {_mm256_cvtph_ps(_mm256_castsi256_si128(halves)),
            _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1))};
  }
  static Avx2Lanes load_staged(const Staged* p) { return load_f16(p); }
  static Avx2Lanes load_f16(const uint16_t* p) {
    return {_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p)),
            _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)(p + 8)))};
  }
  static Avx2Lanes load_i8(const int8_t* p) {
    return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)p))),
            _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)(p + 8))))};
  }
  static Avx2Lanes load_u8(const uint8_t* p) {
    return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)p))),
            _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)(p + 8))))};
  }
  struct Words {
    __m256i low;
    __m256i high;
  };
  static Words load_words(const uint32_t* p) {
    return {_mm256_loadu_si256((const __m256i*)p), _mm256_loadu_si256((const __m256i*)(p + 8))};
  }
  static Words load_bytes(const uint8_t* p) {
    return {_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)p)),
            _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)(p + 8)))};
  }
  static Avx2Lanes widen_low_bf16(Words pairs) {
    return {_mm256_castsi256_ps(_mm256_slli_epi32(pairs.low, 16)),
            _mm256_castsi256_ps(_mm256_slli_epi32(pairs.high, 16))};
  }
  static Avx2Lanes load_pairs(const uint16_t* p) { return load(reinterpret_cast<const float*>(p)); }
  static Avx2Lanes first_bf16(Avx2Lanes pairs) {
    return widen_low_bf16({_mm256_castps_si256(pairs.low), _mm256_castps_si256(pairs.high)});
  }
  static Avx2Lanes second_bf16(Avx2Lanes pairs) {
    const __m256 upper = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(0xffff0000)));
    return {_mm256_and_ps(pairs.low, upper), _mm256_and_ps(pairs.high, upper)};
  }
  static Avx2Lanes upper_float(Words words) {
    const __m256i mask = _mm256_set1_epi32(0xff);
    return {_mm256_castsi256_ps(_mm256_andnot_si256(mask, words.low)),
            _mm256_castsi256_ps(_mm256_andnot_si256(mask, words.high))};
  }
  static Avx2Lanes widen_low_byte(Words words) {
    return {to_floats(low_bits(words.low, 8)), to_floats(low_bits(words.high, 8))};
  }
  static Words high_halves(Words pairs) {
    return {_mm256_srli_epi32(pairs.low, 16), _mm256_srli_epi32(pairs.high, 16)};
  }
  static Avx2Lanes widen_fp4(Words codes) { return {fp4_values(codes.low), fp4_values(codes.high)}; }
  static Words next_nibble(Words codes) {
    return {_mm256_srli_epi32(codes.low, 4), _mm256_srli_epi32(codes.high, 4)};
  }
  static Words next_pair(Words codes) {
    return {_mm256_srli_epi32(codes.low, 2), _mm256_srli_epi32(codes.high, 2)};
  }
  static Words next_bit(Words codes) {
    return {_mm256_srli_epi32(codes.low, 1), _mm256_srli_epi32(codes.high, 1)};
  }
  static Words next_byte(Words codes) {
    return {_mm256_srli_epi32(codes.low, 8), _mm256_srli_epi32(codes.high, 8)};
  }
  template <int kBits>
  static Words up(Words codes) {
    return {_mm256_slli_epi32(codes.low, kBits), _mm256_slli_epi32(codes.high, kBits)};
  }
  static Words join_bytes(Words low, Words high) {
    return {join_four(low.low, high.low), join_four(low.high, high.high)};
  }
  static Avx2Lanes widen_nibble(Words codes) {
    return {to_floats(low_bits(codes.low, 4)), to_floats(low_bits(codes.high, 4))};
  }
  static Avx2Lanes widen_iq4(Words codes) { return {iq4_values(codes.low), iq4_values(codes.high)}; }
  static Avx2Lanes load_e8m0(const uint8_t* p) {
    const Words exponents = load_bytes(p);
    return {powers(exponents.low), powers(exponents.high)};
  }
  static Avx2Lanes widen_pair(Words codes) {
    return {to_floats(low_bits(codes.low, 2)), to_floats(low_bits(codes.high, 2))};
  }
  static Avx2Lanes widen_three(Words low, Words high) {
    return {joined<2, 1>(low.low, high.low), joined<2, 1>(low.high, high.high)};
  }
  static Avx2Lanes widen_five(Words low, Words high) {
    return {joined<4, 1>(low.low, high.low), joined<4, 1>(low.high, high.high)};
  }
  void store(float* p) const {
    _mm256_storeu_ps(p, low);
    _mm256_storeu_ps(p + 8, high);
  }
  void store(float* p, int n) const {
    _mm256_maskstore_ps(p, first_lanes(n), low);
    _mm256_maskstore_ps(p + 8, first_lanes(n - 8), high);
  }
  Avx2Lanes first(int n) const {
    return {_mm256_and_ps(low, _mm256_castsi256_ps(first_lanes(n))),
            _mm256_and_ps(high, _mm256_castsi256_ps(first_lanes(n - 8)))};
  }

 private:
  // The first n of 16 elements, zeros behind them; memory beyond them is not touched.
  template <class Element>
  struct Elements {
    Element values[16] = {};
    Elements(const Element* p, int n) { std::memcpy(values, p, n * sizeof(Element)); }
    __m128i low() const { return _mm_loadu_si128((const __m128i*)values); }
    __m128i high() const { return _mm_loadu_si128((const __m128i*)(values + 8)); }
  };

  // All ones in the lanes below n.
  static __m256i first_lanes(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static __m256 widen_bf16(__m128i bits) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  }
  // Clears the copies of the sign below bit 15.
  static __m256i to_half(__m256i bits) {
    return _mm256_and_si256(bits, _mm256_set1_epi16(static_cast<short>(0xbf80)));
  }
  static __m256i low_bits(__m256i words, int bits) {
    return _mm256_and_si256(words, _mm256_set1_epi32((1 << bits) - 1));
  }
  static __m256 to_floats(__m256i numbers) { return _mm256_cvtepi32_ps(numbers); }
  // The permute reads the low three bits of each index only; the fourth is the sign.
  static __m256 fp4_values(__m256i codes) {
    const __m256 magnitude = _mm256_permutevar8x32_ps(_mm256_setr_ps(0, 0.5f, 1, 1.5f, 2, 3, 4, 6), codes);
    const __m256i sign = _mm256_and_si256(_mm256_slli_epi32(codes, 28), _mm256_set1_epi32(INT32_MIN));
    return _mm256_or_ps(magnitude, _mm256_castsi256_ps(sign));
  }
  // Sixteen bytes are looked up in each half of a register, of which the lowest of each word counts: with the
  // bits above a code cleared the others are those of code zero, and a shift of the sign drops them.
  static __m256 iq4_values(__m256i codes) {
    const __m256i values = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i*)kIq4Values));
    const __m256i bytes = _mm256_shuffle_epi8(values, low_bits(codes, 4));
    return to_floats(_mm256_srai_epi32(_mm256_slli_epi32(bytes, 24), 24));
  }
  // The exponents of floats; for zero, which has no normal one, half the smallest normal float.
  static __m256 powers(__m256i exponents) {
    const __m256i bits = _mm256_slli_epi32(exponents, 23);
    return _mm256_castsi256_ps(_mm256_max_epi32(bits, _mm256_set1_epi32(0x400000)));
  }
  static __m256i join_four(__m256i low, __m256i high) {
    return _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi8(0x0f)),
                           _mm256_and_si256(high, _mm256_set1_epi8(0x30)));
  }
  // Codes of kHigh bits above kLow.
  template <int kLow, int kHigh>
  static __m256 joined(__m256i low, __m256i high) {
    return to_floats(_mm256_or_si256(low_bits(low, kLow), _mm256_slli_epi32(low_bits(high, kHigh), kLow)));
  }
};

inline Avx2Lanes operator+(Avx2Lanes a, Avx2Lanes b) {
  return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
inline Avx2Lanes operator-(Avx2Lanes a, Avx2Lanes b) {
  return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}
inline Avx2Lanes operator*(Avx2Lanes a, Avx2Lanes b) {
  return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}
inline Avx2Lanes operator/(Avx2Lanes a, Avx2Lanes b) {
  return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
}
inline Avx2Lanes fma(Avx2Lanes a, Avx2Lanes b, Avx2Lanes c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
inline Avx2Lanes max(Avx2Lanes a, Avx2Lanes b) {
  return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}
inline Avx2Lanes min(Avx2Lanes a, Avx2Lanes b) {
  return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
}
inline Avx2Lanes pow2_biased(Avx2Lanes a) {
  const auto power = [](__m256 x) {
    const __m256i exponent = _mm256_slli_epi32(_mm256_castps_si256(x), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(exponent, _mm256_set1_epi32(0x3f800000)));
  };
  return {power(a.low), power(a.high)};
}

inline float sum(Avx2Lanes a) {
  const __m256 eight = _mm256_add_ps(a.low, a.high);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline float largest(Avx2Lanes a) {
  const __m256 eight = _mm256_max_ps(a.low, a.high);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

// Of an 8 × 8 block: interleaves pairs of rows, then pairs of pairs, then 128-bit halves.
inline void transpose_block(__m256 (&rows)[8]) {
  __m256 quad[8];  // quad[4g + c]: columns c and 4 + c of rows 4g..4g+3, one in each 128-bit half
  for (int g = 0; g < 8; g += 4) {
    const __m256 low_a = _mm256_unpacklo_ps(rows[g], rows[g + 1]);
    const __m256 high_a = _mm256_unpackhi_ps(rows[g], rows[g + 1]);
    const __m256 low_b = _mm256_unpacklo_ps(rows[g + 2], rows[g + 3]);
    const __m256 high_b = _mm256_unpackhi_ps(rows[g + 2], rows[g + 3]);
    quad[g] = _mm256_shuffle_ps(low_a, low_b, 0x44);
    quad[g + 1] = _mm256_shuffle_ps(low_a, low_b, 0xee);
    quad[g + 2] = _mm256_shuffle_ps(high_a, high_b, 0x44);
    quad[g + 3] = _mm256_shuffle_ps(high_a, high_b, 0xee);
  }
  for (int c = 0; c < 4; ++c) {
    rows[c] = _mm256_permute2f128_ps(quad[c], quad[4 + c], 0x20);
    rows[4 + c] = _mm256_permute2f128_ps(quad[c], quad[4 + c], 0x31);
  }
}

inline void transpose(Avx2Lanes (&rows)[16]) {
  __m256 blocks[4][8];  // upper left, upper right, lower left, lower right
  for (int i = 0; i < 8; ++i) {
    blocks[0][i] = rows[i].low;
    blocks[1][i] = rows[i].high;
    blocks[2][i] = rows[8 + i].low;
    blocks[3][i] = rows[8 + i].high;
  }
  for (auto& block : blocks) transpose_block(block);
  for (int i = 0; i < 8; ++i) {
    rows[i] = {blocks[0][i], blocks[2][i]};
    rows[8 + i] = {blocks[1][i], blocks[3][i]};
  }
}

}  // namespace llmservice::cpu
