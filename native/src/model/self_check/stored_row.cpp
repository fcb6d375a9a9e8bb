#include "model/self_check/stored_row.h"

namespace llmservice {
namespace {

// Element `index` of a tensor, in row-major order.
float element(const Tensor& tensor, int64_t index) {
  const int64_t unit = size_of(tensor.dtype);
  std::vector<std::byte> bytes(unit);
  tensor.read(index * unit, bytes);
  return widen(tensor.dtype, bytes.data(), 0);
}

std::vector<float> elements(const Tensor& tensor, int64_t first, int64_t count) {
  const int64_t unit = size_of(tensor.dtype);
  std::vector<std::byte> bytes(count * unit);
  tensor.read(first * unit, bytes);
  std::vector<float> out(count);
  for (int64_t i = 0; i < count; ++i) out[i] = widen(tensor.dtype, bytes.data(), i);
  return out;
}

// What the codes of the row are multiplied by.
std::vector<float> scales_of_columns(const StoredWeight& stored, int64_t row) {
  std::vector<float> scales(stored.cols);
  if (stored.weight.dtype == DType::kF4E2M1) {
    const float global = element(*stored.global_scale, 0);
    const int64_t groups = stored.cols / 16;
    const std::vector<float> of_groups = elements(*stored.scale, row * groups, groups);
    for (int64_t k = 0; k < stored.cols; ++k) {
      scales[k] = stored.divides ? of_groups[k / 16] / global : of_groups[k / 16] * global;
    }
  } else if (stored.scaling == Scaling::kBlock) {
    const int64_t blocks = (stored.cols + 127) / 128;
    const std::vector<float> of_blocks = elements(*stored.scale, row / 128 * blocks, blocks);
    for (int64_t k = 0; k < stored.cols; ++k) scales[k] = of_blocks[k / 128];
  } else {
    scales.assign(stored.cols, element(*stored.scale, stored.one_scale() ? 0 : row));
  }
  return scales;
}

}  // namespace

std::vector<float> stored_row(const StoredWeight& stored, int64_t row, DType keep) {
  const Tensor& weight = stored.weight;
  std::vector<std::byte> codes(bytes_of(weight.dtype, stored.cols));
  weight.read(row * codes.size(), codes);
  std::vector<float> values(stored.cols);
  for (int64_t k = 0; k < stored.cols; ++k) values[k] = widen(weight.dtype, codes.data(), k);
  if (has_scales(weight.dtype)) {
    const std::vector<float> scales = scales_of_columns(stored, row);
    for (int64_t k = 0; k < stored.cols; ++k) values[k] *= scales[k];
  } else if (!is_quantized(weight.dtype) && held_as(weight.dtype, keep) == DType::kBF16) {
    for (float& value : values) value = bf16_to_float(float_to_bf16(value));
  }
  const std::vector<int32_t> order = weight.file->column_order();
  if (order.empty()) return values;
  std::vector<float> ordered(stored.cols);
  for (int64_t k = 0; k < stored.cols; ++k) ordered[order[k]] = values[k];
  return ordered;
}

}  // namespace llmservice
