// Where each weight and scale of a packed matrix lies.
#include "backends/cpu/packed_matrix.h"

#include "ops/dtype.h"

namespace llmservice::cpu {

PackedMatrix::PackedMatrix(int64_t row_count, int64_t col_count, DType held, Scaling scaling)
    : held_(held), scaling_(scaling) {
  rows = row_count;
  cols = col_count;
  const int64_t padded = panels() * kPanelRows;
  weights_ = AnonymousMemory(bytes_of(held, padded * cols));
  if (is_quantized(held)) scales_ = AnonymousMemory(padded * scale_blocks() * sizeof(float));
  if (held == DType::kF4E2M1) group_scales_ = AnonymousMemory(padded * cols / kGroupColumns);
  bytes = weights_.bytes() + scales_.bytes() + group_scales_.bytes();
}

int64_t PackedMatrix::scale_blocks() const {
  return scaling_ == Scaling::kRow ? 1 : (cols + kDepthBlock - 1) / kDepthBlock;
}

PanelView PackedMatrix::panel(int64_t index) const {
  const int64_t row = index * kPanelRows;
  return {
      .weights = weight(row),
      .scales = is_quantized(held_) ? scale(row) : nullptr,
      .scale_step = scaling_ == Scaling::kRow ? 0 : kPanelRows,
      .group_scales = held_ == DType::kF4E2M1 ? reinterpret_cast<const uint8_t*>(group_scale(row)) : nullptr,
      .depth = cols,
      .dtype = held_};
}

std::byte* PackedMatrix::weight(int64_t row) const {
  const int64_t panel = bytes_of(held_, row / kPanelRows * kPanelRows * cols);
  const int64_t step = held_ == DType::kF4E2M1 ? sizeof(uint32_t) : size_of(held_);
  return weights_.at(panel + row % kPanelRows * step);
}

float* PackedMatrix::scale(int64_t row) const {
  const int64_t index = row / kPanelRows * kPanelRows * scale_blocks() + row % kPanelRows;
  return reinterpret_cast<float*>(scales_.at(index * sizeof(float)));
}

std::byte* PackedMatrix::group_scale(int64_t row) const {
  return group_scales_.at(row / kPanelRows * kPanelRows * cols / kGroupColumns + row % kPanelRows);
}

void PackedMatrix::widen_row(int64_t row, float* out) const {
  const std::byte* weights = weight(row);
  if (held_ == DType::kF4E2M1) {
    const std::byte* groups = group_scale(row);
    for (int64_t k = 0; k < cols; ++k) {
      const float code = widen(held_, weights + k / 8 * kPanelRows * sizeof(uint32_t), k % 8);
      out[k] = code * widen(DType::kF8E4M3, groups, k / kGroupColumns * kPanelRows);
    }
  } else {
    for (int64_t k = 0; k < cols; ++k) out[k] = widen(held_, weights, k * kPanelRows);
  }
  if (!is_quantized(held_)) return;
  const float* scales = scale(row);
  const int64_t step = scaling_ == Scaling::kRow ? 0 : kPanelRows;
  for (int64_t k = 0; k < cols; ++k) out[k] *= scales[k / kDepthBlock * step] / widening_factor(held_);
}

}  // namespace llmservice::cpu
