// Sixteen float lanes in one AVX-512 register (F, BW, VL, DQ). Include only from *avx512*.cpp, which alone
// are compiled for that family. Meanings and orders are those of simd_portable.h, bit for bit.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

#include "backends/cpu/kernels.h"
#include "ops/block_types.h"

namespace llmservice::cpu {

// What is compiled for BF16 too has names of its own: the linker keeps one of each name, for every machine.
#ifdef __AVX512BF16__
inline namespace with_bf16 {
#else
inline namespace without_bf16 {
#endif

// Where a (16, kColumns) array that lies in kColumns vectors has its columns: value (c, j) is lane
// (c · kColumns + j) % 16 of vector (c · kColumns + j) / 16.
template <int kColumns>
struct ColumnPlaces {
  struct Tables {
    alignas(64) int32_t lane[kColumns][16] = {};  // of row c of column j, in its vector
    alignas(64) int32_t row[kColumns][16] = {};   // of lane l of vector i
    uint16_t rows[kColumns][kColumns] = {};       // bits of the rows of column j that vector i has
    uint16_t lanes[kColumns][kColumns] = {};      // bits of the lanes of vector i that column j has
  };
  static consteval Tables make() {
    Tables t;
    for (int at = 0; at < 16 * kColumns; ++at) {
      const int c = at / kColumns, j = at % kColumns, i = at / 16, l = at % 16;
      t.lane[j][c] = l;
      t.row[i][l] = c;
      t.rows[i][j] |= 1 << c;
      t.lanes[i][j] |= 1 << l;
    }
    return t;
  }
  static constexpr Tables kTables = make();
};

struct Avx512Lanes {
  static constexpr int kCount = 16;
  static constexpr int kBlockVectors = 4;  // 6 × 4 sums, 4 operands and a broadcast fill 32 registers
  static constexpr int direct_rows(Held) { return 6; }
  static constexpr int max_passes(Held) { return 4; }
  static constexpr int walked_vectors(int, Held) { return 4; }
  __m512 v;

  static __mmask16 first_lanes(int n) { return static_cast<__mmask16>((1u << n) - 1u); }
  // Of vector i of `count` values.
  static __mmask16 lanes_of(int count, int i) {
    return first_lanes(std::clamp(count - i * kCount, 0, kCount));
  }

  static Avx512Lanes set(float x) { return {_mm512_set1_ps(x)}; }
  static Avx512Lanes zero() { return {_mm512_setzero_ps()}; }
  static Avx512Lanes load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static Avx512Lanes load(const float* p, int n) { return {_mm512_maskz_loadu_ps(first_lanes(n), p)}; }
  // lane c of lanes[j] = data[c · kColumns + j] for c < rows <= kCount; zeros behind.
  template <int kColumns>
  static void load_columns(const float* data, int rows, Avx512Lanes* lanes) {
    using Places = ColumnPlaces<kColumns>;
    for (int j = 0; j < kColumns; ++j) lanes[j] = zero();
    for (int i = 0; i < kColumns; ++i) {
      const __m512 from = _mm512_maskz_loadu_ps(lanes_of(rows * kColumns, i), data + i * kCount);
      for (int j = 0; j < kColumns; ++j) {
        const __m512i at = _mm512_load_si512(Places::kTables.lane[j]);
        lanes[j].v = _mm512_mask_permutexvar_ps(lanes[j].v, Places::kTables.rows[i][j], at, from);
      }
    }
  }
  // The inverse.
  template <int kColumns>
  static void store_columns(const Avx512Lanes* lanes, int rows, float* data) {
    using Places = ColumnPlaces<kColumns>;
    for (int i = 0; i < kColumns; ++i) {
      __m512 to = _mm512_setzero_ps();
      for (int j = 0; j < kColumns; ++j) {
        const __m512i row = _mm512_load_si512(Places::kTables.row[i]);
        to = _mm512_mask_permutexvar_ps(to, Places::kTables.lanes[i][j], row, lanes[j].v);
      }
      _mm512_mask_storeu_ps(data + i * kCount, lanes_of(rows * kColumns, i), to);
    }
  }
  static Avx512Lanes load_bf16(const uint16_t* p, int n) {
    return widen_bf16(_mm256_maskz_loadu_epi16(first_lanes(n), p));
  }
  // e4m3 seeemmm sits in half precision as s0eeeemmm0000000: exponent bias 15 for 7 makes it the value / 256,
  // subnormals included. Sign extension and a shift by 7 bring both fields into place; the mask clears the
  // copies of the sign below bit 15.
  using Staged = uint16_t;
  template <int V>
  static void stage_fp8(const uint8_t* p, Staged* out) {
    for (int half = 0; half < V / 2; ++half) {
      const __m512i wide = _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i*)(p + 32 * half)));
      const __m512i bits =
          _mm512_and_si512(_mm512_slli_epi16(wide, 7), _mm512_set1_epi16(static_cast<short>(0xbf80)));
      _mm512_storeu_si512(out + 32 * half, bits);
    }
  }
  // Of a pair in one 16-bit word, a shift by one brings the upper value's fields into place.
  template <int V>
  static void stage_fp8_pairs(const uint8_t* p, Staged* low, Staged* high) {
    const __m512i mask = _mm512_set1_epi16(static_cast<short>(0xbf80));
    for (int half = 0; half < V / 2; ++half) {
      const __m512i pairs = _mm512_loadu_si512(p + 64 * half);
      const __m512i lower = _mm512_slli_epi16(pairs, 8);
      _mm512_storeu_si512(low + 32 * half, _mm512_and_si512(_mm512_srai_epi16(lower, 1), mask));
      _mm512_storeu_si512(high + 32 * half, _mm512_and_si512(_mm512_srai_epi16(pairs, 1), mask));
    }
  }
  // The first n of 16 e4m3 values, each divided by 256 in the same way.
  static Avx512Lanes load_fp8(const uint8_t* p, int n) {
    const __m256i wide = _mm256_cvtepi8_epi16(_mm_maskz_loadu_epi8(first_lanes(n), p));
    const __m256i bits =
        _mm256_and_si256(_mm256_slli_epi16(wide, 7), _mm256_set1_epi16(static_cast<short>(0xbf80)));
    return {_mm512_cvtph_ps(bits)};
  }
  static Avx512Lanes load_staged(const Staged* p) { return load_f16(p); }
  static Avx512Lanes load_f16(const uint16_t* p) {
    return {_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p))};
  }
  static Avx512Lanes load_i8(const int8_t* p) {
    return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)p)))};
  }
  static Avx512Lanes load_u8(const uint8_t* p) {
    return {_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)p)))};
  }
  using Words = __m512i;
  static Words load_words(const uint32_t* p) { return _mm512_loadu_si512(p); }
  static Words load_bytes(const uint8_t* p) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)p));
  }
  static Avx512Lanes widen_low_bf16(Words pairs) {
    return {_mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16))};
  }
  static Avx512Lanes load_pairs(const uint16_t* p) { return {_mm512_loadu_ps(p)}; }
  static Avx512Lanes first_bf16(Avx512Lanes pairs) { return widen_low_bf16(_mm512_castps_si512(pairs.v)); }
  static Avx512Lanes second_bf16(Avx512Lanes pairs) {
    return {_mm512_and_ps(pairs.v, _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(0xffff0000))))};
  }
  static Avx512Lanes upper_float(Words words) {
    return {_mm512_castsi512_ps(_mm512_andnot_si512(_mm512_set1_epi32(0xff), words))};
  }
  static Avx512Lanes widen_low_byte(Words words) { return to_floats(words, 0xff); }
  static Words high_halves(Words pairs) { return _mm512_srli_epi32(pairs, 16); }
  // The permute reads the low four bits of each index only.
  static Avx512Lanes widen_fp4(Words codes) {
    const __m512 values =
        _mm512_setr_ps(0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6);
    return {_mm512_permutexvar_ps(codes, values)};
  }
  static Words next_nibble(Words codes) { return _mm512_srli_epi32(codes, 4); }
  static Words next_pair(Words codes) { return _mm512_srli_epi32(codes, 2); }
  static Words next_byte(Words codes) { return _mm512_srli_epi32(codes, 8); }
  template <int kBits>
  static Words up(Words codes) {
    return _mm512_slli_epi32(codes, kBits);
  }
  static Words join_bytes(Words low, Words high) {
    return _mm512_or_si512(_mm512_and_si512(low, _mm512_set1_epi8(0x0f)),
                           _mm512_and_si512(high, _mm512_set1_epi8(0x30)));
  }
  static Words next_bit(Words codes) { return _mm512_srli_epi32(codes, 1); }
  static Avx512Lanes widen_nibble(Words codes) {
    const __m512 values = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return {_mm512_permutexvar_ps(codes, values)};
  }
  static Avx512Lanes widen_iq4(Words codes) {
    const __m512i values = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)kIq4Values));
    return {_mm512_permutexvar_ps(codes, _mm512_cvtepi32_ps(values))};
  }
  // The exponents of floats; for zero, which has no normal one, half the smallest normal float.
  static Avx512Lanes load_e8m0(const uint8_t* p) {
    const __m512i bits = _mm512_slli_epi32(load_bytes(p), 23);
    return {_mm512_castsi512_ps(_mm512_max_epi32(bits, _mm512_set1_epi32(0x400000)))};
  }
  // Where a code has fewer bits than the permute's index, the values repeat.
  static Avx512Lanes widen_pair(Words codes) {
    const __m512 values = _mm512_setr_ps(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
    return {_mm512_permutexvar_ps(codes, values)};
  }
  static Avx512Lanes widen_three(Words low, Words high) {
    const __m512 values = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
    return {_mm512_permutexvar_ps(joined<2>(low, high), values)};
  }
  static Avx512Lanes widen_five(Words low, Words high) { return to_floats(joined<4>(low, high), 31); }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
  void store(float* p, int n) const { _mm512_mask_storeu_ps(p, first_lanes(n), v); }
  Avx512Lanes first(int n) const { return {_mm512_maskz_mov_ps(first_lanes(n), v)}; }

 private:
  // The bits of `high` above the low kLow bits of `low`. The ternary operation takes `low` where its mask has
  // ones and `high` elsewhere.
  template <int kLow>
  static __m512i joined(Words low, Words high) {
    const __m512i mask = _mm512_set1_epi32((1 << kLow) - 1);
    return _mm512_ternarylogic_epi32(mask, low, _mm512_slli_epi32(high, kLow), 0xca);
  }
  static Avx512Lanes to_floats(Words codes, int mask) {
    return {_mm512_cvtepi32_ps(_mm512_and_si512(codes, _mm512_set1_epi32(mask)))};
  }
  static Avx512Lanes widen_bf16(__m256i bits) {
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16))};
  }
};

inline Avx512Lanes operator+(Avx512Lanes a, Avx512Lanes b) { return {_mm512_add_ps(a.v, b.v)}; }
inline Avx512Lanes operator-(Avx512Lanes a, Avx512Lanes b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline Avx512Lanes operator*(Avx512Lanes a, Avx512Lanes b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline Avx512Lanes operator/(Avx512Lanes a, Avx512Lanes b) { return {_mm512_div_ps(a.v, b.v)}; }
inline Avx512Lanes fma(Avx512Lanes a, Avx512Lanes b, Avx512Lanes c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
inline Avx512Lanes max(Avx512Lanes a, Avx512Lanes b) { return {_mm512_max_ps(a.v, b.v)}; }
inline Avx512Lanes min(Avx512Lanes a, Avx512Lanes b) { return {_mm512_min_ps(a.v, b.v)}; }
inline Avx512Lanes pow2_biased(Avx512Lanes a) {
  const __m512i exponent = _mm512_slli_epi32(_mm512_castps_si512(a.v), 23);
  return {_mm512_castsi512_ps(_mm512_add_epi32(exponent, _mm512_set1_epi32(0x3f800000)))};
}

inline float sum(Avx512Lanes a) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline float largest(Avx512Lanes a) {
  const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

// Interleaves pairs of rows, then pairs of pairs, then 128-bit quarters.
inline void transpose(Avx512Lanes (&rows)[16]) {
  __m512 pair[16];
  for (int i = 0; i < 16; i += 2) {
    pair[i] = _mm512_unpacklo_ps(rows[i].v, rows[i + 1].v);
    pair[i + 1] = _mm512_unpackhi_ps(rows[i].v, rows[i + 1].v);
  }
  __m512 quad[16];  // quad[4g + c]: column 4q + c of rows 4g..4g+3 in 128-bit quarter q
  for (int i = 0; i < 16; i += 4) {
    for (int j = 0; j < 2; ++j) {
      const __m512d low = _mm512_castps_pd(pair[i + j]);
      const __m512d high = _mm512_castps_pd(pair[i + j + 2]);
      quad[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high));
      quad[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
    }
  }
  for (int c = 0; c < 4; ++c) {
    const __m512 even_low = _mm512_shuffle_f32x4(quad[c], quad[4 + c], 0x88);
    const __m512 odd_low = _mm512_shuffle_f32x4(quad[c], quad[4 + c], 0xdd);
    const __m512 even_high = _mm512_shuffle_f32x4(quad[8 + c], quad[12 + c], 0x88);
    const __m512 odd_high = _mm512_shuffle_f32x4(quad[8 + c], quad[12 + c], 0xdd);
    rows[c].v = _mm512_shuffle_f32x4(even_low, even_high, 0x88);
    rows[4 + c].v = _mm512_shuffle_f32x4(odd_low, odd_high, 0x88);
    rows[8 + c].v = _mm512_shuffle_f32x4(even_low, even_high, 0xdd);
    rows[12 + c].v = _mm512_shuffle_f32x4(odd_low, odd_high, 0xdd);
  }
}

}  // namespace with_bf16 or without_bf16
}  // namespace llmservice::cpu
