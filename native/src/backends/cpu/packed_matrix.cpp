#include "backends/cpu/packed_matrix.h"

#include <algorithm>

namespace llmservice::cpu {

PackedMatrix::PackedMatrix(std::vector<PackedPanels> runs, std::vector<int32_t> order)
    : runs_(std::move(runs)), order_(std::move(order)) {
  cols = runs_.front().cols();
  bytes = order_.size() * sizeof(int32_t);
  for (const PackedPanels& run : runs_) {
    rows += run.rows();
    bytes += run.bytes();
    panels_ += run.panels();
  }
}

PlacedPanel PackedMatrix::panel(int64_t index) const {
  int64_t first_row = 0;
  auto run = runs_.begin();
  for (; index >= run->panels(); ++run) {
    index -= run->panels();
    first_row += run->rows();
  }
  const int64_t row = index * kPanelRows;
  return {run->panel(index), first_row + row, std::min<int64_t>(kPanelRows, run->rows() - row)};
}

RowForms PackedMatrix::row_forms() const {
  RowForms forms;
  for (const PackedPanels& run : runs_) {
    if (run.activations() == Activations::kBf16) forms.pairs[static_cast<int>(pair_order(run.held()))] = true;
    if (run.activations() == Activations::kFixed) forms.fixed = true;
  }
  return forms;
}

void PackedMatrix::widen_row(int64_t row, float* out) const {
  auto run = runs_.begin();
  for (; row >= run->rows(); ++run) row -= run->rows();
  run->widen_row(row, out);
  if (order_.empty()) return;
  const std::vector<float> stored(out, out + cols);
  for (size_t i = 0; i < order_.size(); ++i) out[order_[i]] = stored[i];
}

}  // namespace llmservice::cpu
