// Matrix instructions that take both operands from registers (mma.sync, mfma), and how operands and sums lie
// over the lanes of a warp: by the PTX ISA's "Matrix Fragments" for 32 lanes, by AMD's matrix instruction
// calculator for 64. One instruction multiplies 16 outputs by kFragmentTokens tokens over 32 bytes of K. Four
// of them make a block of 128 bytes; which bytes each takes is free as long as both operands agree: a lane
// takes runs of 16 bytes of K, so that it loads them at once.
//
//   mma<kType>(sums, weights, tokens)    sums[4] += weights[kWeightWords] · tokens[2]; kF8E4M3, kBF16 or kF16
//   MemoryWindow(from, bytes)            device memory that nothing writes meanwhile; the same in all lanes
//   .vector(lane_offset, offset)         16 bytes at the sum of both, of which `offset` is the same in all
//   .number(lane_offset, offset)         lanes; zeros beyond the end. vector<true>: read once, by one block
//   .pair(lane_offset, offset)           eight bytes, on a border of eight
//   multiply_halves(a, b)                two f16 of a word with those of another; add_halves
//   half_to_float(word)                  of its lower half
//   look_up(codes, table)                bytes of a table of 16 for eight codes of four bits: words[0] has
//   those
//                                        of codes 0, 2, 4 and 6, words[1] the others
//   keep_order()                         loads stay on their side of it, and arrive in their order
//   kStartsEarly                         wait_for_previous() does wait, so that weights are best loaded
//   before
#pragma once

#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/vendor/vendor.h"
#include "ops/ops.h"

namespace llmservice::gpu {

constexpr int kFragmentOutputs = 16;
constexpr int kFragmentTokens = kWarpSize / 4;
constexpr int kFragmentSteps = 4;  // instructions of a block of K
constexpr int kWeightWords = kWarpSize == 64 ? 2 : 4;
constexpr int kTokenWords = 2;

// 16 bytes of an operand.
struct alignas(16) OperandVector {
  uint32_t words[4];
};
struct alignas(8) OperandPair {
  uint32_t words[2];
};

// The token whose bytes a lane holds, and which quarter of each 64 bytes.
__host__ __device__ constexpr int operand_token(int lane) { return kWarpSize == 64 ? lane % 16 : lane / 4; }
__host__ __device__ constexpr int operand_quarter(int lane) { return kWarpSize == 64 ? lane / 16 : lane % 4; }

// The output and token of a lane's sum i.
__host__ __device__ constexpr int sum_output(int lane, int i) {
  return kWarpSize == 64 ? 4 * (lane / 16) + i : lane / 4 + i / 2 * 8;
}
__host__ __device__ constexpr int sum_token(int lane, int i) {
  return kWarpSize == 64 ? lane % 16 : lane % 4 * 2 + i % 2;
}
// Its four sums belong to so many different outputs and tokens: i / kSumTokens and i % kSumTokens.
constexpr int kSumTokens = kWarpSize == 64 ? 1 : 2;
constexpr int kSumOutputs = 4 / kSumTokens;

}  // namespace llmservice::gpu

#if defined(LLMSERVICE_GPU_CUDA)
#include "backends/gpu/vendor/fragments_cuda.h"
#elif defined(LLMSERVICE_GPU_HIP)
#include "backends/gpu/vendor/fragments_hip.h"
#else
#include "backends/gpu/vendor/fragments_host.h"
#endif

namespace llmservice::gpu {

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(LLMSERVICE_GPU_HOST)

// widen_fp8: four e4m3 codes as f16, two to a word, exactly.
#if defined(LLMSERVICE_WIDENS_FP8)
constexpr bool kWidensAtOnce = true;
#else
constexpr bool kWidensAtOnce = false;
// The code's bits are those of an f16 with another bias, which the product makes up for. No product is
// subnormal, so that a unit that flushes those (gfx90a) is exact too.
__device__ __forceinline__ void widen_fp8(uint32_t codes, uint32_t& low, uint32_t& high) {
  constexpr uint32_t kRescale = kFnuz ? 0x58005800 : 0x5c005c00;  // 2^7, 2^8
  const auto widen = [](uint32_t upper_bytes) {
    return multiply_halves((upper_bytes & 0x80008000) | (upper_bytes & 0x7f007f00) >> 1, kRescale);
  };
  low = widen((codes & 0xff) << 8 | (codes & 0xff00) << 16);
  high = widen((codes >> 8 & 0xff00) | (codes & 0xff000000));
}
#endif

// Of four finite values, float_to_fp8().
#if !defined(LLMSERVICE_NARROWS_TO_FP8)
__device__ __forceinline__ uint32_t narrow_to_fp8(const float (&values)[4]) {
  uint32_t codes = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) codes |= uint32_t{float_to_fp8(values[i])} << (8 * i);
  return codes;
}
#endif

// mma_fp8 where the chip has none: two f16 instructions of half its K.
__device__ __forceinline__ void mma_widened(float (&sums)[4], const uint32_t* weights,
                                            const uint32_t* tokens) {
  constexpr int kRows = kWeightWords / 2;  // words of each half of K
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    uint32_t wide[kWeightWords];
    uint32_t wide_tokens[kTokenWords];
#pragma unroll
    for (int i = 0; i < kRows; ++i) widen_fp8(weights[half * kRows + i], wide[i], wide[kRows + i]);
    widen_fp8(tokens[half], wide_tokens[0], wide_tokens[1]);
    mma_f16(sums, wide, wide_tokens);
  }
}

template <DType kType>
__device__ __forceinline__ void mma(float (&sums)[4], const uint32_t* weights, const uint32_t* tokens) {
  if constexpr (kType == DType::kBF16) {
    mma_bf16(sums, weights, tokens);
  } else if constexpr (kType == DType::kF16) {
    mma_f16(sums, weights, tokens);
  } else if constexpr (kHasFp8Mma) {
    mma_fp8(sums, weights, tokens);
  } else {
    mma_widened(sums, weights, tokens);
  }
}

#endif

}  // namespace llmservice::gpu
