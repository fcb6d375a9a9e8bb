// Products of 16 x 16 tiles on the matrix units, by all lanes of a warp: D (16 rows, 16 columns) +=
// A (16 rows, 16) · B (16, 16 columns), A and B in bf16, D in float32.
//
// An operand is lines: rows of A, columns of B. A lane holds kLines of them, operand_line(i), and of each the
// elements [4 q, 4 q + 4) of the sum for its quarter q = quarter(): a line's 16 elements lie in four lanes.
// Which hardware slot of the sum an element takes is the same in A and B and no concern of a kernel's.
// Of D a lane holds at[r][c]: row result_row(r), column result_column(c).
//
//   NVIDIA  mma.sync.m16n8k16, twice. Lines l / 4 and l / 4 + 8, quarter l % 4. PTX ISA, "Matrix Fragments
//           for mma.m16n8k16": elements 0, 1 of a quarter take slots 2q, 2q + 1, elements 2, 3 slots 2q + 8,
//           2q + 9.
//   AMD     v_mfma_f32_16x16x16_bf16 (gfx90a: .._bf16_1k). Line l % 16, quarter l / 16. AMD's matrix
//           instruction calculator: A[i][k] in lane i + 16 (k / 4), D[i][j] in lane j + 16 (i / 4).
#pragma once

#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

// Four bf16, the first in the low half of `low`.
struct alignas(8) Quad {
  uint32_t low;
  uint32_t high;
};

#if defined(LLMSERVICE_GPU_CUDA) || (defined(LLMSERVICE_GPU_HOST) && LLMSERVICE_WARP_SIZE == 32)

constexpr int kLines = 2;
constexpr int kResultRows = 2;
constexpr int kResultColumns = 4;
__device__ __forceinline__ int quarter() { return lane_id() % 4; }
__device__ __forceinline__ int operand_line(int i) { return lane_id() / 4 + 8 * i; }
__device__ __forceinline__ int result_row(int r) { return lane_id() / 4 + 8 * r; }
__device__ __forceinline__ int result_column(int c) { return c / 2 * 8 + lane_id() % 4 * 2 + c % 2; }

#else

constexpr int kLines = 1;
constexpr int kResultRows = 4;
constexpr int kResultColumns = 1;
__device__ __forceinline__ int quarter() { return lane_id() / 16; }
__device__ __forceinline__ int operand_line(int) { return lane_id() % 16; }
__device__ __forceinline__ int result_row(int r) { return lane_id() / 16 * 4 + r; }
__device__ __forceinline__ int result_column(int) { return lane_id() % 16; }

#endif

// Lanes that hold a row of D together, neighbours.
constexpr int kRowLanes = 16 / kResultColumns;

struct alignas(8 * kLines) Operand {
  Quad line[kLines];
};

struct Accumulator {
  float at[kResultRows][kResultColumns];
};

}  // namespace llmservice::gpu

#if defined(LLMSERVICE_GPU_CUDA)
#include "backends/gpu/vendor/mma_cuda.h"
#elif defined(LLMSERVICE_GPU_HIP)
#include "backends/gpu/vendor/mma_hip.h"
#else
#include "backends/gpu/vendor/mma_host.h"
#endif
