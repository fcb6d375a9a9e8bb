// AMD: the mfma instructions of CDNA2 (gfx90a) and CDNA3 (gfx942), which alone has them for eight-bit floats.
// gfx90a takes subnormal 16-bit operands for zero.
#pragma once

#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

#ifdef __HIPCC__

#if defined(__gfx942__)
constexpr bool kHasFp8Mma = true;
#else
constexpr bool kHasFp8Mma = false;
#endif

using MmaSums = float __attribute__((ext_vector_type(4)));

template <class Operand, class Instruction>
__device__ __forceinline__ void mma_with(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens,
                                         Instruction instruction) {
  Operand a;
  Operand b;
  static_assert(sizeof a == 8);
  memcpy(&a, weights, sizeof a);
  memcpy(&b, tokens, sizeof b);
  const MmaSums result = instruction(a, b, MmaSums{sums[0], sums[1], sums[2], sums[3]});
#pragma unroll
  for (int i = 0; i < 4; ++i) sums[i] = result[i];
}

__device__ __forceinline__ void mma_fp8(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens) {
#if defined(__gfx942__)
  mma_with<long>(sums, weights, tokens, [](long a, long b, MmaSums c) {
    return __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a, b, c, 0, 0, 0);
  });
#endif
}

__device__ __forceinline__ void mma_bf16(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens) {
  using Four = short __attribute__((ext_vector_type(4)));
  mma_with<Four>(sums, weights, tokens, [](Four a, Four b, MmaSums c) {
#if defined(__HIP_DEVICE_COMPILE__)
    return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, 0, 0, 0);
#else
    return c;
#endif
  });
}

__device__ __forceinline__ void mma_f16(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens) {
  using Four = _Float16 __attribute__((ext_vector_type(4)));
  mma_with<Four>(sums, weights, tokens, [](Four a, Four b, MmaSums c) {
#if defined(__HIP_DEVICE_COMPILE__)
    return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
#else
    return c;
#endif
  });
}

__device__ __forceinline__ uint32_t multiply_halves(uint32_t a, uint32_t b) {
  using Two = _Float16 __attribute__((ext_vector_type(2)));
  const Two product = __builtin_bit_cast(Two, a) * __builtin_bit_cast(Two, b);
  return __builtin_bit_cast(uint32_t, product);
}

// 16 bytes that are read once, by one block.
template <class T>
__device__ __forceinline__ T load_streamed(const void* from) {
  using Four = uint32_t __attribute__((ext_vector_type(4)));
  static_assert(sizeof(T) == 16);
  return __builtin_bit_cast(T, __builtin_nontemporal_load(static_cast<const Four*>(from)));
}

#endif

}  // namespace llmservice::gpu
