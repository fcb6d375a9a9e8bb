// Rows of one type in panels of 64 outputs, K-major: for each k, or each pair of them (columns_together), the
// 64 outputs' weights lie side by side, so that a vector holds 16 outputs and each output is its own chain
// over k.
// checkpoint/src/weights/resident-weights.ts plans memory by the same rule: change both.
#pragma once

#include "backends/cpu/anonymous_memory.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/packed_blocks.h"

namespace llmservice::cpu {

class PackedPanels {
 public:
  // `held` is the type in memory; those that have scales apart have them as `scaling` says.
  PackedPanels(int64_t rows, int64_t cols, DType held, Scaling scaling, Activations activations);

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  size_t bytes() const { return weights_.bytes() + scales_.bytes() + shared_.bytes(); }
  int64_t panels() const { return (rows_ + kPanelRows - 1) / kPanelRows; }
  // K blocks that have a scale of their own.
  int64_t scale_blocks() const;
  DType held() const { return held_; }
  Activations activations() const { return activations_; }
  PanelView panel(int64_t index) const;

  // First byte of weight (row, 0); (row, k) lies element_of(k) elements further. Four-bit codes: the word of
  // columns 0..7; that of the next eight lies 64 words further.
  std::byte* weight(int64_t row) const;
  // Scale of (row, first K block), times what widening leaves out; the next block's lies 64 further.
  float* scale(int64_t row) const;
  // kF4E2M1: e4m3 scale of (row, columns 0..15); the next sixteen's lies 64 further.
  std::byte* group_scale(int64_t row) const;
  // Where a row of a block type lies.
  BlockPanel block_panel(int64_t row) const;

  // Row `row` (cols) as floats, scales applied.
  void widen_row(int64_t row, float* out) const;

 private:
  std::byte* shared(int64_t panel) const;
  // Of one panel's weights.
  int64_t panel_bytes() const;

  int64_t rows_;
  int64_t cols_;
  DType held_;
  Scaling scaling_;
  Activations activations_;
  AnonymousMemory weights_;
  AnonymousMemory scales_;
  AnonymousMemory shared_;
};

// Where column k of a row lies, in elements from the row's first.
template <int64_t kTogether>
constexpr int64_t element_of(int64_t k) {
  return k / kTogether * kTogether * kPanelRows + k % kTogether;
}

// What the kernels' widening of FP8 and FP4 leaves out (see stage_fp8), and scales therefore carry.
constexpr float widening_factor(DType held) {
  return held == DType::kF8E4M3 || held == DType::kF4E2M1 ? 256.0f : 1.0f;
}

}  // namespace llmservice::cpu
