// A weight matrix in panels of 64 outputs, K-major: for each k the 64 outputs' weights lie side by side (one
// cache line in FP8), so that a vector holds 16 outputs and each output is its own chain over k.
#pragma once

#include "backends/cpu/anonymous_memory.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/thread_pool.h"

namespace llmservice::cpu {

class PackedMatrix final : public Matrix {
 public:
  // `stored` is the dtype held: FP8 (with scales), BF16 or F32.
  PackedMatrix(int64_t rows, int64_t cols, DType stored);

  int64_t panels() const { return (rows + kPanelRows - 1) / kPanelRows; }
  int64_t depth_blocks() const { return (cols + kDepthBlock - 1) / kDepthBlock; }
  DType stored() const { return stored_; }
  PanelView panel(int64_t index) const;

  // First byte of weight (row, 0); (row, k + 1) lies 64 elements further.
  std::byte* weight(int64_t row) const;
  // Scale of (row, first K block), times 256 (what widening FP8 leaves out); the next block's lies 64
  // further.
  float* scale(int64_t row) const;

 private:
  DType stored_;
  AnonymousMemory weights_;
  AnonymousMemory scales_;
};

// Reads the parts through one window of at most 16 MiB and packs them; see Backend::pack.
std::unique_ptr<PackedMatrix> pack_matrix(std::span<const MatrixPart> parts, DType keep,
                                          const std::function<void(uint64_t)>& on_bytes, ThreadPool& pool);

}  // namespace llmservice::cpu
