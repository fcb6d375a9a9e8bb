// Where each weight and scale of packed panels lies.
#include "backends/cpu/packed_panels.h"

#include "ops/dtype.h"

namespace llmservice::cpu {
PackedPanels::PackedPanels(int64_t rows, int64_t cols, DType held, Scaling scaling, Activations activations)
    : rows_(rows), cols_(cols), held_(held), scaling_(scaling), activations_(activations) {
  const int64_t padded = panels() * kPanelRows;
  weights_ = AnonymousMemory(panels() * panel_bytes());
  if (has_scales(held)) scales_ = AnonymousMemory(padded * scale_blocks() * sizeof(float));
  if (const int64_t bytes = panels() * shared_bytes(held, cols); bytes > 0) {
    shared_ = AnonymousMemory(bytes);
  }
}

int64_t PackedPanels::scale_blocks() const {
  return scaling_ == Scaling::kRow ? 1 : (cols_ + kDepthBlock - 1) / kDepthBlock;
}

PanelView PackedPanels::panel(int64_t index) const {
  const int64_t row = index * kPanelRows;
  return {.weights = weight(row),
          .scales = has_scales(held_) ? scale(row) : nullptr,
          .scale_step = scaling_ == Scaling::kRow ? 0 : kPanelRows,
          .shared = shared_.bytes() > 0 ? shared(index) : nullptr,
          .depth = cols_,
          .dtype = held_,
          .activations = activations_};
}

int64_t PackedPanels::panel_bytes() const {
  const int64_t together = columns_together(held_);
  return (cols_ + together - 1) / together * together * kPanelRows * code_bits(held_) / 8;
}

std::byte* PackedPanels::weight(int64_t row) const {
  const int64_t step =
      code_bits(held_) < 8 ? sizeof(uint32_t) : columns_together(held_) * code_bits(held_) / 8;
  return weights_.at(row / kPanelRows * panel_bytes() + row % kPanelRows * step);
}

float* PackedPanels::scale(int64_t row) const {
  const int64_t index = row / kPanelRows * kPanelRows * scale_blocks() + row % kPanelRows;
  return reinterpret_cast<float*>(scales_.at(index * sizeof(float)));
}

std::byte* PackedPanels::shared(int64_t panel) const {
  return shared_.at(panel * shared_bytes(held_, cols_));
}

std::byte* PackedPanels::group_scale(int64_t row) const {
  return shared(row / kPanelRows) + row % kPanelRows;
}

BlockPanel PackedPanels::block_panel(int64_t row) const {
  const int64_t panel = row / kPanelRows;
  return {.dtype = held_,
          .weights = weight(panel * kPanelRows),
          .shared = shared(panel),
          .output = row % kPanelRows};
}

void PackedPanels::widen_row(int64_t row, float* out) const {
  if (is_block_type(held_)) return widen_block_row(block_panel(row), cols_, out);
  const std::byte* weights = weight(row);
  if (held_ == DType::kF4E2M1) {
    const std::byte* groups = group_scale(row);
    for (int64_t k = 0; k < cols_; ++k) {
      const float code = widen(held_, weights + k / 8 * kPanelRows * sizeof(uint32_t), k % 8);
      out[k] = code * widen(DType::kF8E4M3, groups, k / kGroupColumns * kPanelRows);
    }
  } else if (columns_together(held_) == 2) {
    for (int64_t k = 0; k < cols_; ++k) out[k] = widen(held_, weights, element_of<2>(k));
  } else {
    for (int64_t k = 0; k < cols_; ++k) out[k] = widen(held_, weights, element_of<1>(k));
  }
  if (!has_scales(held_)) return;
  const float* scales = scale(row);
  const int64_t step = scaling_ == Scaling::kRow ? 0 : kPanelRows;
  for (int64_t k = 0; k < cols_; ++k) out[k] *= scales[k / kDepthBlock * step] / widening_factor(held_);
}

}  // namespace llmservice::cpu
