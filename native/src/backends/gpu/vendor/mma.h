// Products of 16 x 16 tiles on the matrix units, by all lanes of a warp: D (16 rows, 16 columns) +=
// A (16 rows, 16) · B (16, 16 columns), A and B in bf16, D in float32. By the instructions of fragments.h,
// rows being its outputs and columns its tokens.
//
// An operand is lines: rows of A, columns of B. A lane holds kLines of them, operand_line(i), and of each the
// elements [4 q, 4 q + 4) of the sum for its quarter q = quarter(): a line's 16 elements lie in four lanes.
// Which hardware slot of the sum an element takes is the same in A and B and no concern of a kernel's.
// Of D a lane holds at[r][c]: row result_row(r), column result_column(c).
#pragma once

#include "backends/gpu/vendor/fragments.h"

namespace llmservice::gpu {

// Four bf16, the first in the low half of `low`.
struct alignas(8) Quad {
  uint32_t low;
  uint32_t high;
};

constexpr int kLines = 16 / kFragmentTokens;
constexpr int kResultRows = kSumOutputs;
constexpr int kResultColumns = kSumTokens * kLines;
__device__ __forceinline__ int quarter() { return operand_quarter(lane_id()); }
__device__ __forceinline__ int operand_line(int i) { return operand_token(lane_id()) + kFragmentTokens * i; }
__device__ __forceinline__ int result_row(int r) { return sum_output(lane_id(), r * kSumTokens); }
__device__ __forceinline__ int result_column(int c) {
  return c / kSumTokens * kFragmentTokens + sum_token(lane_id(), c % kSumTokens);
}

// Lanes that hold a row of D together, neighbours.
constexpr int kRowLanes = 16 / kResultColumns;

struct alignas(8 * kLines) Operand {
  Quad line[kLines];
};

struct Accumulator {
  float at[kResultRows][kResultColumns];
};

__device__ __forceinline__ void multiply(const Operand& a, const Operand& b, Accumulator& d) {
  uint32_t rows[kWeightWords];
#pragma unroll
  for (int i = 0; i < kLines; ++i) {
    rows[i] = a.line[i].low;
    rows[kLines + i] = a.line[i].high;
  }
#pragma unroll
  for (int i = 0; i < kLines; ++i) {
    const uint32_t columns[kTokenWords] = {b.line[i].low, b.line[i].high};
    float sums[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) sums[j] = d.at[j / kSumTokens][i * kSumTokens + j % kSumTokens];
    mma_bf16(sums, rows, columns);
#pragma unroll
    for (int j = 0; j < 4; ++j) d.at[j / kSumTokens][i * kSumTokens + j % kSumTokens] = sums[j];
  }
}

}  // namespace llmservice::gpu

#if defined(LLMSERVICE_GPU_CUDA)
#include "backends/gpu/vendor/mma_cuda.h"
#elif defined(LLMSERVICE_GPU_HIP)
#include "backends/gpu/vendor/mma_hip.h"
#else
#include "backends/gpu/vendor/mma_host.h"
#endif
