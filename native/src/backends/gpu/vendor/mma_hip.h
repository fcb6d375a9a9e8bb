// AMD: what kernels do to numbers between the products of mma.h.
#pragma once

#ifdef __HIPCC__

namespace llmservice::gpu {

__device__ __forceinline__ uint32_t low_halves(uint32_t a, uint32_t b) {
  return __builtin_amdgcn_perm(b, a, 0x05040100);
}
__device__ __forceinline__ uint32_t high_halves(uint32_t a, uint32_t b) {
  return __builtin_amdgcn_perm(b, a, 0x07060302);
}

// Two floats as bf16, rounded to nearest, ties to even.
__device__ __forceinline__ uint32_t pack_bf16(float low, float high) {
  return float_to_bf16(low) | static_cast<uint32_t>(float_to_bf16(high)) << 16;
}

// Four finite e4m3fnuz codes as bf16, exactly.
__device__ __forceinline__ Quad widen_fp8(uint32_t codes) {
#if defined(__gfx942__)
  const auto low = __builtin_amdgcn_cvt_pk_f32_fp8(static_cast<int>(codes), false);
  const auto high = __builtin_amdgcn_cvt_pk_f32_fp8(static_cast<int>(codes), true);
  return {high_halves(bits_of(low[0]), bits_of(low[1])), high_halves(bits_of(high[0]), bits_of(high[1]))};
#else
  const auto widen = [](uint32_t code) {
    return bits_of(float_of((code & 0x80) << 24 | (code & 0x7f) << 20) * 0x1p119f);
  };
  return {high_halves(widen(codes & 0xff), widen(codes >> 8 & 0xff)),
          high_halves(widen(codes >> 16 & 0xff), widen(codes >> 24))};
#endif
}

// 2^x within two units of the last place; zero below 2^-126.
__device__ __forceinline__ float fast_exp2(float x) { return __builtin_amdgcn_exp2f(x); }

// a · b, rounded, and never a part of a fused operation.
__device__ __forceinline__ float separate_product(float a, float b) {
#pragma clang fp contract(off)
  return a * b;
}

}  // namespace llmservice::gpu

#endif  // __HIPCC__
