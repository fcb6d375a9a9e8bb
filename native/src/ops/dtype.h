// Stored number types: sizes, names, and exact widening to float. Scalar: fast paths belong to the backends.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "ops/ops.h"

namespace llmservice {

constexpr int64_t size_of(DType t) {
  switch (t) {
    case DType::kF32:
      return 4;
    case DType::kBF16:
    case DType::kF16:
      return 2;
    case DType::kF8E4M3:
      return 1;
  }
  return 0;
}

// The name that safetensors headers use.
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

// Element `index` of `data`, widened. FP8 scales are not applied.
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
  }
  return 0;
}

}  // namespace llmservice
