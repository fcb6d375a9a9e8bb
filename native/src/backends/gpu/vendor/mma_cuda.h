// NVIDIA: what kernels do to numbers between the products of mma.h.
#pragma once

#ifdef __CUDACC__

namespace llmservice::gpu {

// Two floats as bf16, rounded to nearest, ties to even.
__device__ __forceinline__ uint32_t pack_bf16(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

// The low halves of both in one word, or the high ones.
__device__ __forceinline__ uint32_t low_halves(uint32_t a, uint32_t b) { return __byte_perm(a, b, 0x5410); }
__device__ __forceinline__ uint32_t high_halves(uint32_t a, uint32_t b) { return __byte_perm(a, b, 0x7632); }

// Four finite e4m3 codes as bf16, exactly: their bits in place are 2^-120 of the value.
__device__ __forceinline__ Quad widen_fp8(uint32_t codes) {
  const auto widen = [](uint32_t bytes) {
    const uint32_t placed = (bytes & 0x80008000) | ((bytes >> 4) & 0x07f007f0);
    uint32_t value;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(value) : "r"(placed), "r"(0x7b807b80), "r"(0x80008000));
    return value;
  };
  return {widen(__byte_perm(codes, 0, 0x1404)), widen(__byte_perm(codes, 0, 0x3424))};
}

// 2^x within two units of the last place; zero below 2^-126.
__device__ __forceinline__ float fast_exp2(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

// a · b, rounded, and never a part of a fused operation.
__device__ __forceinline__ float separate_product(float a, float b) { return __fmul_rn(a, b); }

}  // namespace llmservice::gpu

#endif  // __CUDACC__
