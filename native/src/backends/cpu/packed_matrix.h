// A weight matrix as runs of rows, each run of one type in panels of its own: q, k and v of a GGUF file often
// differ in type. All others have one run.
#pragma once

#include <array>
#include <vector>

#include "backends/cpu/packed_panels.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/thread_pool.h"

namespace llmservice::cpu {

// One panel, and the outputs of the matrix that it makes.
struct PlacedPanel {
  PanelView view;
  int64_t first_row;
  int64_t rows;
};

// What activations are asked for rounded: to BF16 in which orders of pairs, and in fixed point.
struct RowForms {
  std::array<bool, kPairOrders> pairs{};
  bool fixed = false;

  void add(const RowForms& other) {
    for (int i = 0; i < kPairOrders; ++i) pairs[i] = pairs[i] || other.pairs[i];
    fixed = fixed || other.fixed;
  }
};

class PackedMatrix final : public Matrix {
 public:
  // `order`: as of a MatrixPart.
  PackedMatrix(std::vector<PackedPanels> runs, std::vector<int32_t> order);

  int64_t panels() const { return panels_; }
  PlacedPanel panel(int64_t index) const;
  // The order in which panels take activations; empty: as they are.
  std::span<const int32_t> order() const { return order_; }
  // How panels take activations that they round.
  RowForms row_forms() const;
  // Row `row` (cols) as floats, scales applied.
  void widen_row(int64_t row, float* out) const;

 private:
  std::vector<PackedPanels> runs_;
  std::vector<int32_t> order_;
  int64_t panels_ = 0;
};

// Reads the parts and packs them; see Backend::pack. Parts that are read in any order go by panels through
// memory of each worker, which fits its cache, others through one window of at most 16 MiB. `activations` are
// for types whose products take them so; others take float32.
std::unique_ptr<PackedMatrix> pack_matrix(std::span<const MatrixPart> parts, DType keep,
                                          Activations activations,
                                          const std::function<void(uint64_t)>& on_bytes, ThreadPool& pool,
                                          Scratch& scratch);

}  // namespace llmservice::cpu
