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
  using Two = uint32_t __attribute__((ext_vector_type(2)));
  const auto a = __builtin_bit_cast(Operand, Two{weights[0], weights[1]});
  const auto b = __builtin_bit_cast(Operand, Two{tokens[0], tokens[1]});
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
  mma_with<Four>(sums, weights, tokens, []([[maybe_unused]] Four a, [[maybe_unused]] Four b, MmaSums c) {
#if defined(__HIP_DEVICE_COMPILE__)
    return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, 0, 0, 0);
#else
    return c;
#endif
  });
}

__device__ __forceinline__ void mma_f16(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens) {
  using Four = _Float16 __attribute__((ext_vector_type(4)));
  mma_with<Four>(sums, weights, tokens, []([[maybe_unused]] Four a, [[maybe_unused]] Four b, MmaSums c) {
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

__device__ __forceinline__ uint32_t add_halves(uint32_t a, uint32_t b) {
  using Two = _Float16 __attribute__((ext_vector_type(2)));
  const Two sum = __builtin_bit_cast(Two, a) + __builtin_bit_cast(Two, b);
  return __builtin_bit_cast(uint32_t, sum);
}

__device__ __forceinline__ OperandPair look_up(uint32_t codes, const uint32_t (&table)[4]) {
  const auto four = [&](uint32_t bytes) {
    const uint32_t within = bytes & 0x07070707;
    const uint32_t lower = __builtin_amdgcn_perm(table[1], table[0], within);
    const uint32_t upper = __builtin_amdgcn_perm(table[3], table[2], within);
    // The fourth bit of a code selects its byte of the upper half.
    return __builtin_amdgcn_perm(upper, lower, 0x03020100 | (bytes & 0x08080808) >> 1);
  };
  return {four(codes & 0x0f0f0f0f), four(codes >> 4 & 0x0f0f0f0f)};
}

__device__ __forceinline__ float half_to_float(uint32_t word) {
  return static_cast<float>(__builtin_bit_cast(_Float16, static_cast<uint16_t>(word)));
}

// A buffer resource: the unit that loads checks the end itself, but looks only at what lies in a vector
// register.
constexpr bool kStartsEarly = false;

__device__ __forceinline__ void keep_order() { __builtin_amdgcn_sched_barrier(0); }

class MemoryWindow {
 public:
  MemoryWindow() = default;
  __device__ __forceinline__ MemoryWindow(const void* from, uint32_t bytes)
      : resource_(
            __builtin_amdgcn_make_buffer_rsrc(const_cast<void*>(from), 0, static_cast<int>(bytes), kFlags)) {}

  template <bool kStreamed = false>
  __device__ __forceinline__ OperandVector vector(uint32_t lane_offset, uint32_t offset) const {
    constexpr int kNonTemporal = 2;
    const auto words = __builtin_amdgcn_raw_buffer_load_b128(
        resource_, static_cast<int>(lane_offset + offset), 0, kStreamed ? kNonTemporal : 0);
    return {{words[0], words[1], words[2], words[3]}};
  }
  __device__ __forceinline__ float number(uint32_t lane_offset, uint32_t offset) const {
    return __builtin_bit_cast(
        float, __builtin_amdgcn_raw_buffer_load_b32(resource_, static_cast<int>(lane_offset + offset), 0, 0));
  }
  __device__ __forceinline__ OperandPair pair(uint32_t lane_offset, uint32_t offset) const {
    const auto words =
        __builtin_amdgcn_raw_buffer_load_b64(resource_, static_cast<int>(lane_offset + offset), 0, 0);
    return {{words[0], words[1]}};
  }

 private:
  static constexpr int kFlags = 0x00027000;  // 32-bit data, bytes counted without a stride
  __amdgpu_buffer_rsrc_t resource_;
};

#endif

}  // namespace llmservice::gpu
