// A weight matrix in panels of 64 outputs, K-major: for each k the 64 outputs' weights lie side by side (one
// cache line in FP8), so that a vector holds 16 outputs and each output is its own chain over k.
// crds/src/resident-weights.ts plans memory by the same rule: change both.
#pragma once

#include "backends/cpu/anonymous_memory.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/thread_pool.h"

namespace llmservice::cpu {

class PackedMatrix final : public Matrix {
 public:
  // `held` is the type in memory; quantized ones have scales as `scaling` says.
  PackedMatrix(int64_t rows, int64_t cols, DType held, Scaling scaling);

  int64_t panels() const { return (rows + kPanelRows - 1) / kPanelRows; }
  // K blocks that have a scale of their own.
  int64_t scale_blocks() const;
  DType held() const { return held_; }
  Scaling scaling() const { return scaling_; }
  PanelView panel(int64_t index) const;

  // First byte of weight (row, 0); (row, k + 1) lies 64 elements further. kF4E2M1: the word of columns 0..7;
  // that of the next eight lies 64 words further.
  std::byte* weight(int64_t row) const;
  // Scale of (row, first K block), times what widening leaves out; the next block's lies 64 further.
  float* scale(int64_t row) const;
  // kF4E2M1: e4m3 scale of (row, columns 0..15); the next sixteen's lies 64 further.
  std::byte* group_scale(int64_t row) const;

  // Row `row` (cols) as floats, scales applied.
  void widen_row(int64_t row, float* out) const;

 private:
  DType held_;
  Scaling scaling_;
  AnonymousMemory weights_;
  AnonymousMemory scales_;
  AnonymousMemory group_scales_;
};

// What the kernels' widening of FP8 and FP4 leaves out (see stage_fp8), and scales therefore carry.
constexpr float widening_factor(DType held) {
  return held == DType::kF8E4M3 || held == DType::kF4E2M1 ? 256.0f : 1.0f;
}

// Reads the parts through one window of at most 16 MiB and packs them; see Backend::pack.
std::unique_ptr<PackedMatrix> pack_matrix(std::span<const MatrixPart> parts, DType keep,
                                          const std::function<void(uint64_t)>& on_bytes, ThreadPool& pool);

}  // namespace llmservice::cpu
