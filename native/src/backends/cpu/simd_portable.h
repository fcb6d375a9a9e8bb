// Sixteen float lanes in plain C++: the reading that every instruction family must match bit for bit.
// Kernels are templates over such a type, so that one source gives every family and they agree by
// construction.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "backends/cpu/kernels.h"
#include "ops/block_types.h"

namespace llmservice::cpu {

struct PortableLanes {
  static constexpr int kCount = 16;
  static constexpr int kBlockVectors = 4;  // of a register block of products, beside six rows
  // Of a product whose weights go from memory to registers: rows of a pass, passes, and vectors of outputs
  // that are summed at a time.
  static constexpr int direct_rows(Held) { return 6; }
  static constexpr int max_passes(Held) { return 4; }
  static constexpr int walked_vectors(int, Held) { return 4; }
  float v[kCount];

  static PortableLanes set(float x) {
    PortableLanes r;
    for (float& lane : r.v) lane = x;
    return r;
  }
  static PortableLanes zero() { return set(0.0f); }
  static PortableLanes load(const float* p) { return load(p, kCount); }
  // The first n values; the other lanes are zero and their memory is not touched.
  static PortableLanes load(const float* p, int n) {
    PortableLanes r = zero();
    for (int i = 0; i < n; ++i) r.v[i] = p[i];
    return r;
  }
  static PortableLanes load_bf16(const uint16_t* p, int n) {
    PortableLanes r = zero();
    for (int i = 0; i < n; ++i) r.v[i] = std::bit_cast<float>(static_cast<uint32_t>(p[i]) << 16);
    return r;
  }
  // V · 16 e4m3 values, each divided by 256 (see simd_avx512.h: the shift into half precision leaves that
  // factor), on their way to lanes.
  using Staged = float;
  template <int V>
  static void stage_fp8(const uint8_t* p, Staged* out) {
    for (int i = 0; i < V * kCount; ++i) out[i] = from_e4m3(p[i]);
  }
  // Likewise of as many pairs, the first of each to `low`.
  template <int V>
  static void stage_fp8_pairs(const uint8_t* p, Staged* low, Staged* high) {
    for (int i = 0; i < V * kCount; ++i) low[i] = from_e4m3(p[2 * i]);
    for (int i = 0; i < V * kCount; ++i) high[i] = from_e4m3(p[2 * i + 1]);
  }
  static PortableLanes load_fp8(const uint8_t* p, int n) {
    PortableLanes r = zero();
    for (int i = 0; i < n; ++i) r.v[i] = from_e4m3(p[i]);
    return r;
  }
  static PortableLanes load_staged(const Staged* p) { return load(p); }
  static PortableLanes load_f16(const uint16_t* p) {
    PortableLanes r;
    for (int i = 0; i < kCount; ++i) r.v[i] = from_f16(p[i]);
    return r;
  }
  static PortableLanes load_i8(const int8_t* p) {
    PortableLanes r;
    for (int i = 0; i < kCount; ++i) r.v[i] = p[i];
    return r;
  }
  static PortableLanes load_u8(const uint8_t* p) {
    PortableLanes r;
    for (int i = 0; i < kCount; ++i) r.v[i] = p[i];
    return r;
  }
  // Eight codes of four bits per lane, the next one in the low bits.
  struct Words {
    uint32_t v[kCount];
  };
  static Words load_words(const uint32_t* p) {
    Words r;
    for (int i = 0; i < kCount; ++i) r.v[i] = p[i];
    return r;
  }
  static Words load_bytes(const uint8_t* p) {
    Words r;
    for (int i = 0; i < kCount; ++i) r.v[i] = p[i];
    return r;
  }
  // The BF16 in the low half of each word, and the words with their high halves there.
  static PortableLanes widen_low_bf16(const Words& pairs) {
    PortableLanes r;
    for (int i = 0; i < kCount; ++i) r.v[i] = std::bit_cast<float>(pairs.v[i] << 16);
    return r;
  }
  // Sixteen pairs of BF16, a pair a lane; and the first or second of each, as a float.
  static PortableLanes load_pairs(const uint16_t* p) {
    PortableLanes r;
    std::memcpy(r.v, p, sizeof r.v);
    return r;
  }
  static PortableLanes first_bf16(PortableLanes pairs) {
    for (float& lane : pairs.v) lane = std::bit_cast<float>(std::bit_cast<uint32_t>(lane) << 16);
    return pairs;
  }
  static PortableLanes second_bf16(PortableLanes pairs) {
    for (float& lane : pairs.v) lane = std::bit_cast<float>(std::bit_cast<uint32_t>(lane) & 0xffff0000);
    return pairs;
  }
  // The float in the upper three bytes of each word, whose lower mantissa is zero, and the number in the
  // lowest.
  static PortableLanes upper_float(const Words& words) {
    PortableLanes r;
    for (int i = 0; i < kCount; ++i) r.v[i] = std::bit_cast<float>(words.v[i] & ~kZeroPointMask);
    return r;
  }
  static PortableLanes widen_low_byte(const Words& words) {
    PortableLanes r;
    for (int i = 0; i < kCount; ++i) r.v[i] = static_cast<float>(words.v[i] & kZeroPointMask);
    return r;
  }
  static Words high_halves(Words pairs) {
    for (uint32_t& word : pairs.v) word >>= 16;
    return pairs;
  }
  static PortableLanes widen_fp4(const Words& codes) {
    constexpr float kValues[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
    PortableLanes r;
    for (int i = 0; i < kCount; ++i) r.v[i] = kValues[codes.v[i] & 15];
    return r;
  }
  static Words next_nibble(Words codes) {
    for (uint32_t& word : codes.v) word >>= 4;
    return codes;
  }
  // Codes of two bits, sixteen per lane.
  static Words next_pair(Words codes) {
    for (uint32_t& word : codes.v) word >>= 2;
    return codes;
  }
  // Codes of one bit, thirty-two per lane.
  static Words next_bit(Words codes) {
    for (uint32_t& word : codes.v) word >>= 1;
    return codes;
  }
  // The low four bits as a number.
  static PortableLanes widen_nibble(const Words& codes) {
    PortableLanes r;
    for (int i = 0; i < kCount; ++i) r.v[i] = static_cast<float>(codes.v[i] & 15);
    return r;
  }
  // Four bytes per lane, the next one in the low bits.
  static Words next_byte(Words codes) {
    for (uint32_t& word : codes.v) word >>= 8;
    return codes;
  }
  template <int kBits>
  static Words up(Words codes) {
    for (uint32_t& word : codes.v) word <<= kBits;
    return codes;
  }
  // Bytes of six bits: the lower four of `low`, bits 4 and 5 of `high`.
  static Words join_bytes(const Words& low, const Words& high) {
    Words r;
    for (int i = 0; i < kCount; ++i) r.v[i] = (low.v[i] & 0x0f0f0f0f) | (high.v[i] & 0x30303030);
    return r;
  }
  // The value that the low four bits stand for in IQ4_NL and IQ4_XS (ops/block_types.h).
  static PortableLanes widen_iq4(const Words& codes) {
    PortableLanes r;
    for (int i = 0; i < kCount; ++i) r.v[i] = kIq4Values[codes.v[i] & 15];
    return r;
  }
  // 2^(e - 127), of e below 255.
  static PortableLanes load_e8m0(const uint8_t* p) {
    PortableLanes r;
    for (int i = 0; i < kCount; ++i) {
      r.v[i] = std::bit_cast<float>(p[i] == 0 ? 0x400000u : static_cast<uint32_t>(p[i]) << 23);
    }
    return r;
  }
  // The low two bits as a number.
  static PortableLanes widen_pair(const Words& codes) {
    PortableLanes r;
    for (int i = 0; i < kCount; ++i) r.v[i] = static_cast<float>(codes.v[i] & 3);
    return r;
  }
  // 4 · the lowest bit of `high` + the low two bits of `low`.
  static PortableLanes widen_three(const Words& low, const Words& high) {
    PortableLanes r;
    for (int i = 0; i < kCount; ++i) r.v[i] = static_cast<float>((low.v[i] & 3) | (high.v[i] & 1) << 2);
    return r;
  }
  // 16 · the lowest bit of `high` + the low nibble of `low`.
  static PortableLanes widen_five(const Words& low, const Words& high) {
    PortableLanes r;
    for (int i = 0; i < kCount; ++i) r.v[i] = static_cast<float>((low.v[i] & 15) | (high.v[i] & 1) << 4);
    return r;
  }
  void store(float* p, int n = kCount) const {
    for (int i = 0; i < n; ++i) p[i] = v[i];
  }
  // These lanes with all but the first n zeroed.
  PortableLanes first(int n) const { return load(v, n); }

 private:
  // Infinities and NaNs keep their mantissa, quieted, as vcvtph2ps does.
  static float from_f16(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    const uint32_t exponent = (bits >> 10) & 31;
    const uint32_t mantissa = bits & 1023;
    if (exponent == 31) {
      return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13 | (mantissa != 0 ? 0x400000u : 0u));
    }
    if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  static float from_e4m3(uint8_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x80) << 24;
    const uint32_t exponent = (bits >> 3) & 15;
    const uint32_t mantissa = bits & 7;
    if (exponent != 0) {  // bias 7 becomes 127, less the 8 of the division
      return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 20);
    }
    const float magnitude = static_cast<float>(mantissa) * 0x1p-17f;
    return sign != 0 ? -magnitude : magnitude;
  }
};

template <class F>
PortableLanes each_lane(F f) {
  PortableLanes r;
  for (int i = 0; i < PortableLanes::kCount; ++i) r.v[i] = f(i);
  return r;
}

inline PortableLanes operator+(const PortableLanes& a, const PortableLanes& b) {
  return each_lane([&](int i) { return a.v[i] + b.v[i]; });
}
inline PortableLanes operator-(const PortableLanes& a, const PortableLanes& b) {
  return each_lane([&](int i) { return a.v[i] - b.v[i]; });
}
inline PortableLanes operator*(const PortableLanes& a, const PortableLanes& b) {
  return each_lane([&](int i) { return a.v[i] * b.v[i]; });
}
inline PortableLanes operator/(const PortableLanes& a, const PortableLanes& b) {
  return each_lane([&](int i) { return a.v[i] / b.v[i]; });
}
// a·b + c, rounded once.
inline PortableLanes fma(const PortableLanes& a, const PortableLanes& b, const PortableLanes& c) {
  return each_lane([&](int i) { return std::fma(a.v[i], b.v[i], c.v[i]); });
}
// The second operand where either is NaN, as x86 does: callers put the value that must keep its NaN second.
inline PortableLanes max(const PortableLanes& a, const PortableLanes& b) {
  return each_lane([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}
inline PortableLanes min(const PortableLanes& a, const PortableLanes& b) {
  return each_lane([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
}
// 2^n for n given as 1.5·2^23 + n, whose low mantissa bits hold n; -126 <= n <= 127.
inline PortableLanes pow2_biased(const PortableLanes& a) {
  return each_lane(
      [&](int i) { return std::bit_cast<float>((std::bit_cast<uint32_t>(a.v[i]) << 23) + 0x3f800000u); });
}

// Folds halves onto each other: 8, 4, 2, 1. The order is part of the result.
inline float sum(const PortableLanes& a) {
  float t[16];
  for (int i = 0; i < 16; ++i) t[i] = a.v[i];
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) t[i] += t[i + half];
  }
  return t[0];
}
inline float largest(const PortableLanes& a) {
  float t[16];
  for (int i = 0; i < 16; ++i) t[i] = a.v[i];
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) t[i] = t[i] > t[i + half] ? t[i] : t[i + half];
  }
  return t[0];
}
// rows[i] lane j <-> rows[j] lane i.
inline void transpose(PortableLanes (&rows)[16]) {
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < i; ++j) {
      const float t = rows[i].v[j];
      rows[i].v[j] = rows[j].v[i];
      rows[j].v[i] = t;
    }
  }
}

}  // namespace llmservice::cpu
