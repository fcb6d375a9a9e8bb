// Stored number types: sizes, names, and exact widening to float. Scalar: fast paths belong to the backends.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "ops/block_types.h"

namespace llmservice {

constexpr int64_t size_of(DType t) {
  switch (t) {
    case DType::kF32:
      return 4;
    case DType::kBF16:
    case DType::kF16:
      return 2;
    case DType::kF8E4M3:
    case DType::kI8:
      return 1;
    default:
      return 0;  // of no whole bytes: see bytes_of
  }
}

// Of `count` elements in a row.
constexpr int64_t bytes_of(DType t, int64_t count) {
  if (is_block_type(t)) return count / block_layout(t).columns * block_layout(t).bytes;
  return t == DType::kF4E2M1 ? count / 2 : count * size_of(t);
}

// Columns of a kF4E2M1 matrix that share one e4m3 scale.
constexpr int64_t kGroupColumns = 16;

// True for codes whose scales lie apart from them.
constexpr bool has_scales(DType t) { return t == DType::kF8E4M3 || t == DType::kI8 || t == DType::kF4E2M1; }

constexpr bool is_quantized(DType t) { return has_scales(t) || is_block_type(t); }

// The type that a matrix of type `stored` is held in, where unquantized ones are kept as `keep` (BF16 or
// F32). Sixteen-bit types stay as they are: F16 in BF16 would lose three bits of each value for no memory.
constexpr DType held_as(DType stored, DType keep) {
  if (is_quantized(stored)) return stored;
  return stored == DType::kF16 && keep == DType::kBF16 ? DType::kF16 : keep;
}

// The name that safetensors headers and GGUF tools use.
constexpr const char* name_of(DType t) {
  switch (t) {
    case DType::kF32:
      return "F32";
    case DType::kBF16:
      return "BF16";
    case DType::kF16:
      return "F16";
    case DType::kF8E4M3:
      return "F8_E4M3";
    case DType::kI8:
      return "I8";
    case DType::kF4E2M1:
      return "U8";  // the container has no name for pairs of E2M1
    case DType::kQ8_0:
      return "Q8_0";
    case DType::kQ4_0:
      return "Q4_0";
    case DType::kQ4_K:
      return "Q4_K";
    case DType::kQ6_K:
      return "Q6_K";
    case DType::kQ4_1:
      return "Q4_1";
    case DType::kQ5_0:
      return "Q5_0";
    case DType::kQ5_1:
      return "Q5_1";
    case DType::kQ5_K:
      return "Q5_K";
    case DType::kQ2_K:
      return "Q2_K";
    case DType::kQ3_K:
      return "Q3_K";
    case DType::kIQ4_NL:
      return "IQ4_NL";
    case DType::kIQ4_XS:
      return "IQ4_XS";
    case DType::kMXFP4:
      return "MXFP4";
    case DType::kInt4:
      return "INT4";
    case DType::kInt8:
      return "INT8";
  }
  return "?";
}

inline float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// Round to nearest, ties to even; NaN stays NaN.
inline uint16_t float_to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline float f16_to_float(uint16_t bits) {
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  if (exponent == 31) {
    return mantissa != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

// OCP e4m3fn: bias 7, no infinities, NaN is 0x7f and 0xff.
inline float e4m3_to_float(uint8_t bits) {
  const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
  const int exponent = (bits >> 3) & 15;
  const int mantissa = bits & 7;
  if (exponent == 15 && mantissa == 7) return std::numeric_limits<float>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -9);
  return sign * std::ldexp(static_cast<float>(mantissa + 8), exponent - 10);
}

// Round to nearest, ties to even; beyond ±448 the largest value. `value` is finite.
inline uint8_t float_to_e4m3(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint8_t>((bits >> 24) & 0x80);
  const uint32_t magnitude = bits & 0x7fffffff;
  // Normal: keep three bits of the mantissa, and move the exponent's bias from 127 to 7.
  const uint32_t normal = ((magnitude + 0x7ffff + ((magnitude >> 20) & 1)) >> 20) - (120 << 3);
  // Below 2^-6: multiples of 2^-9, which is the last bit of 2^14 + x.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0x1p14f) - std::bit_cast<uint32_t>(0x1p14f);
  const uint32_t code = magnitude < std::bit_cast<uint32_t>(0x1p-6f) ? subnormal : normal;
  return static_cast<uint8_t>(sign | (magnitude >= std::bit_cast<uint32_t>(448.0f) ? 0x7e : code));
}

// OCP e2m1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives, in the low four bits.
inline float e2m1_to_float(uint8_t bits) {
  constexpr float kMagnitudes[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  return (bits & 8) != 0 ? -kMagnitudes[bits & 7] : kMagnitudes[bits & 7];
}

// Element `index` of `data`, widened. Scales that lie apart are not applied.
inline float widen(DType t, const std::byte* data, int64_t index) {
  switch (t) {
    case DType::kF32:
      return reinterpret_cast<const float*>(data)[index];
    case DType::kBF16:
      return bf16_to_float(reinterpret_cast<const uint16_t*>(data)[index]);
    case DType::kF16:
      return f16_to_float(reinterpret_cast<const uint16_t*>(data)[index]);
    case DType::kF8E4M3:
      return e4m3_to_float(reinterpret_cast<const uint8_t*>(data)[index]);
    case DType::kI8:
      return reinterpret_cast<const int8_t*>(data)[index];
    case DType::kF4E2M1:
      return e2m1_to_float(static_cast<uint8_t>(static_cast<uint8_t>(data[index / 2]) >> (4 * (index & 1))));
    default:
      return block_value(t, data, index);
  }
}

}  // namespace llmservice
