// Number formats as kernels read and write them. Scalar forms; bit for bit those of ops/dtype.h, but for the
// eight-bit float, which is the device's own:
//   OCP e4m3fn    NVIDIA: bias 7, largest 448, NaN 0x7f and 0xff
//   e4m3fnuz      CDNA3: bias 8, largest 240, one zero, NaN 0x80. The same byte is half of the OCP value.
// Stored OCP codes become device codes when weights are loaded (device_fp8).
#pragma once

#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

#if defined(LLMSERVICE_GPU_HIP) || (defined(LLMSERVICE_GPU_HOST) && LLMSERVICE_WARP_SIZE == 64)
constexpr bool kFnuz = true;
#else
constexpr bool kFnuz = false;
#endif
constexpr float kFp8Max = kFnuz ? 240.0f : 448.0f;
// What a stored OCP code's scale is multiplied by.
constexpr float kStoredFp8Scale = kFnuz ? 2.0f : 1.0f;

__host__ __device__ __forceinline__ uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

__host__ __device__ __forceinline__ float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

__host__ __device__ __forceinline__ float bf16_to_float(uint16_t bits) {
  return float_of(static_cast<uint32_t>(bits) << 16);
}

// Round to nearest, ties to even; NaN stays NaN.
__host__ __device__ __forceinline__ uint16_t float_to_bf16(float value) {
  const uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

__host__ __device__ __forceinline__ float f16_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) return float_of(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude < 0x400) return float_of(sign | bits_of(static_cast<float>(magnitude) * 0x1p-24f));
  return float_of(sign | ((magnitude << 13) + (112 << 23)));
}

// Round to nearest, ties to even; infinite from 65520 on.
__host__ __device__ __forceinline__ uint16_t float_to_f16(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t magnitude = bits & 0x7fffffff;
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  uint32_t code;
  if (magnitude >= 0x477ff000) {
    code = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;
  } else if (magnitude < 0x38800000) {  // subnormal: multiples of 2^-24, the last bit of a half and something
    code = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
  } else {
    code = ((magnitude + 0xfff + ((magnitude >> 13) & 1)) >> 13) - (112 << 10);
  }
  return static_cast<uint16_t>(sign | code);
}

// The device's code of a stored OCP code. FNUZ has no negative zero, and NaNs become finite there.
__host__ __device__ __forceinline__ uint8_t device_fp8(uint8_t stored) {
  return kFnuz && stored == 0x80 ? 0 : stored;
}

__host__ __device__ __forceinline__ float fp8_to_float(uint8_t code) {
  const uint32_t sign = static_cast<uint32_t>(code & 0x80) << 24;
  const uint32_t magnitude = code & 0x7f;
  if (kFnuz ? code == 0x80 : magnitude == 0x7f) return float_of(0x7fc00000);
  constexpr uint32_t kBias = kFnuz ? 8 : 7;
  if (magnitude < 8) {  // subnormal: multiples of 2^-9, or 2^-10
    const float value = static_cast<float>(magnitude) * (kFnuz ? 0x1p-10f : 0x1p-9f);
    return float_of(bits_of(value) | sign);
  }
  return float_of(sign | ((magnitude << 20) + ((127 - kBias) << 23)));
}

// Round to nearest, ties to even; beyond ±kFp8Max that value. `value` is finite.
__host__ __device__ __forceinline__ uint8_t float_to_fp8(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t magnitude = bits & 0x7fffffff;
  const uint32_t sign = (bits >> 24) & 0x80;
  if (float_of(magnitude) >= kFp8Max) return static_cast<uint8_t>(sign | (kFnuz ? 0x7f : 0x7e));
  constexpr uint32_t kBias = kFnuz ? 8 : 7;
  constexpr float kSmallestNormal = kFnuz ? 0x1p-7f : 0x1p-6f;
  // Subnormal codes are the last bits of a sum whose own last bit is worth one of them.
  constexpr float kAlign = kFnuz ? 0x1p13f : 0x1p14f;
  uint32_t code;
  if (float_of(magnitude) < kSmallestNormal) {
    code = bits_of(float_of(magnitude) + kAlign) - bits_of(kAlign);
  } else {
    code = ((magnitude + 0x7ffff + ((magnitude >> 20) & 1)) >> 20) - ((127 - kBias) << 3);
  }
  return static_cast<uint8_t>(kFnuz && code == 0 ? 0 : sign | code);
}

}  // namespace llmservice::gpu
