// No device: what kernels do to numbers between the products of mma.h.
#pragma once

#include <cmath>

#include "backends/gpu/kernels/numbers.h"

namespace llmservice::gpu {

inline uint32_t pack_bf16(float low, float high) {
  return float_to_bf16(low) | static_cast<uint32_t>(float_to_bf16(high)) << 16;
}
inline uint32_t low_halves(uint32_t a, uint32_t b) { return (a & 0xffff) | b << 16; }
inline uint32_t high_halves(uint32_t a, uint32_t b) { return a >> 16 | (b & 0xffff0000); }

inline Quad widen_fp8(uint32_t codes) {
  const auto widen = [codes](int i) { return bits_of(fp8_to_float(static_cast<uint8_t>(codes >> 8 * i))); };
  return {high_halves(widen(0), widen(1)), high_halves(widen(2), widen(3))};
}

inline float fast_exp2(float x) { return x < -126 ? 0.0f : std::exp2(x); }

// The host's compiler is set never to fuse (-ffp-contract=off).
inline float separate_product(float a, float b) { return a * b; }

}  // namespace llmservice::gpu
