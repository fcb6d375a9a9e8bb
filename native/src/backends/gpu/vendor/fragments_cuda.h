// NVIDIA: mma.sync, from sm_80. With e4m3 operands on sm_89: sm_90a and sm_100 take that instruction too, but
// ptxas makes it of products in f16, whose sums it adds up one by one; widening by ourselves spares these
// additions, and their registers.
#pragma once

#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

#ifdef __CUDACC__

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 890
constexpr bool kHasFp8Mma = true;
#else
constexpr bool kHasFp8Mma = false;
#endif

#define LLMSERVICE_MMA(shape_and_types)                                                            \
  asm("mma.sync.aligned." shape_and_types " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                                 \
      : "r"(weights[0]), "r"(weights[1]), "r"(weights[2]), "r"(weights[3]), "r"(tokens[0]), "r"(tokens[1]))

__device__ __forceinline__ void mma_fp8(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 890
  LLMSERVICE_MMA("m16n8k32.row.col.f32.e4m3.e4m3.f32");
#endif
}

__device__ __forceinline__ void mma_bf16(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens) {
  LLMSERVICE_MMA("m16n8k16.row.col.f32.bf16.bf16.f32");
}

__device__ __forceinline__ void mma_f16(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens) {
  LLMSERVICE_MMA("m16n8k16.row.col.f32.f16.f16.f32");
}

#undef LLMSERVICE_MMA

__device__ __forceinline__ uint32_t multiply_halves(uint32_t a, uint32_t b) {
  uint32_t product;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
}

__device__ __forceinline__ uint32_t add_halves(uint32_t a, uint32_t b) {
  uint32_t sum;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}

__device__ __forceinline__ OperandPair look_up(uint32_t codes, const uint32_t (&table)[4]) {
  // Each selects by three bits of four codes, from either half of the table; their fourth bit selects between
  // the halves.
  const uint32_t within = codes & 0x77777777;
  const uint32_t half = 0x32103210 | (codes & 0x88888888) >> 1;
  const auto four = [&](int shift) {
    const uint32_t lower = __byte_perm(table[0], table[1], within >> shift);
    const uint32_t upper = __byte_perm(table[2], table[3], within >> shift);
    return __byte_perm(lower, upper, half >> shift);
  };
  const uint32_t low = four(0);
  const uint32_t high = four(16);
  return {__byte_perm(low, high, 0x6420), __byte_perm(low, high, 0x7531)};
}

__device__ __forceinline__ float half_to_float(uint32_t word) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<uint16_t>(word)));
  return value;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define LLMSERVICE_WIDENS_FP8
__device__ __forceinline__ void widen_fp8(uint32_t codes, uint32_t& low, uint32_t& high) {
  asm("{\n"
      ".reg .b16 first, second;\n"
      "mov.b32 {first, second}, %2;\n"
      "cvt.rn.f16x2.e4m3x2 %0, first;\n"
      "cvt.rn.f16x2.e4m3x2 %1, second;\n"
      "}"
      : "=r"(low), "=r"(high)
      : "r"(codes));
}
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define LLMSERVICE_NARROWS_TO_FP8
__device__ __forceinline__ uint32_t narrow_to_fp8(const float (&values)[4]) {
  uint32_t codes;
  asm("{\n"
      ".reg .b16 first, second;\n"
      "cvt.rn.satfinite.e4m3x2.f32 first, %2, %1;\n"
      "cvt.rn.satfinite.e4m3x2.f32 second, %4, %3;\n"
      "mov.b32 %0, {first, second};\n"
      "}"
      : "=r"(codes)
      : "f"(values[0]), "f"(values[1]), "f"(values[2]), "f"(values[3]));
  return codes;
}
#endif

constexpr bool kStartsEarly = true;

__device__ __forceinline__ void keep_order() {}

class MemoryWindow {
 public:
  MemoryWindow() = default;
  __device__ __forceinline__ MemoryWindow(const void* from, uint32_t bytes)
      : from_(static_cast<const std::byte*>(from)), bytes_(bytes) {}

  template <bool kStreamed = false>
  __device__ __forceinline__ OperandVector vector(uint32_t lane_offset, uint32_t offset) const {
    OperandVector value{};
    if (lane_offset + offset >= bytes_) return value;
    const std::byte* const at = from_ + offset + lane_offset;
    if constexpr (kStreamed) {
      asm("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
          : "=r"(value.words[0]), "=r"(value.words[1]), "=r"(value.words[2]), "=r"(value.words[3])
          : "l"(at));
    } else {
      value = *reinterpret_cast<const OperandVector*>(at);
    }
    return value;
  }
  __device__ __forceinline__ float number(uint32_t lane_offset, uint32_t offset) const {
    return lane_offset + offset < bytes_ ? *reinterpret_cast<const float*>(from_ + offset + lane_offset)
                                         : 0.0f;
  }
  __device__ __forceinline__ OperandPair pair(uint32_t lane_offset, uint32_t offset) const {
    if (lane_offset + offset >= bytes_) return {};
    return *reinterpret_cast<const OperandPair*>(from_ + offset + lane_offset);
  }

 private:
  const std::byte* from_;
  uint32_t bytes_;
};

#endif

}  // namespace llmservice::gpu
