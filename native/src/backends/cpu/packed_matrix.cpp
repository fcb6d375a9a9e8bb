// Packing: each window of stored rows is turned K-major by all threads while it is hot.
#include "backends/cpu/packed_matrix.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ops/dtype.h"

namespace llmservice::cpu {
namespace {

constexpr int64_t kWindowBytes = int64_t{16} << 20;
constexpr float kFp8Widening = 256.0f;

// Copies `rows` row-major rows of `cols` into panel order, 64 elements apart, converting each element.
template <class From, class To, class Convert>
void scatter(const From* from, int64_t rows, int64_t cols, To* to, Convert convert) {
  for (int64_t k = 0; k < cols; ++k) {
    for (int64_t r = 0; r < rows; ++r) to[k * kPanelRows + r] = convert(from[r * cols + k]);
  }
}

// Rows that lie in one panel.
void pack_band(DType from, DType to, const std::byte* data, int64_t rows, int64_t cols, std::byte* out) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(data);
  const auto* halves = reinterpret_cast<const uint16_t*>(data);
  const auto* floats = reinterpret_cast<const float*>(data);
  if (from == DType::kF8E4M3) {
    scatter(bytes, rows, cols, reinterpret_cast<uint8_t*>(out), [](uint8_t x) { return x; });
  } else if (to == DType::kF32) {
    auto* packed = reinterpret_cast<float*>(out);
    if (from == DType::kF32) scatter(floats, rows, cols, packed, [](float x) { return x; });
    if (from == DType::kBF16) scatter(halves, rows, cols, packed, bf16_to_float);
    if (from == DType::kF16) scatter(halves, rows, cols, packed, f16_to_float);
  } else {
    auto* packed = reinterpret_cast<uint16_t*>(out);
    if (from == DType::kF32) scatter(floats, rows, cols, packed, float_to_bf16);
    if (from == DType::kBF16) scatter(halves, rows, cols, packed, [](uint16_t x) { return x; });
    if (from == DType::kF16) {
      scatter(halves, rows, cols, packed, [](uint16_t x) { return float_to_bf16(f16_to_float(x)); });
    }
  }
}

void pack_scales(const MatrixPart& part, int64_t first_row, PackedMatrix& matrix) {
  const int64_t blocks = matrix.depth_blocks();
  if ((part.scale_row + part.rows + kDepthBlock - 1) / kDepthBlock * blocks >
      static_cast<int64_t>(part.scales.size())) {
    throw EngineError("UnsupportedQuantization",
                      "An FP8 tensor of " + std::to_string(part.cols) + " columns has " +
                          std::to_string(part.scales.size()) + " scales, too few for its row " +
                          std::to_string(part.scale_row + part.rows - 1) +
                          ": expected one per 128x128 block. The checkpoint is not FP8 block-128.");
  }
  for (int64_t row = 0; row < part.rows; ++row) {
    const float* from = part.scales.data() + (part.scale_row + row) / kDepthBlock * blocks;
    float* to = matrix.scale(first_row + row);
    for (int64_t block = 0; block < blocks; ++block) to[block * kPanelRows] = from[block] * kFp8Widening;
  }
}

// Packs rows [first_row, first_row + rows) of the matrix from a window, one tile per panel touched.
void pack_window(const MatrixPart& part, const std::byte* window, int64_t rows, int64_t first_row,
                 const PackedMatrix& matrix, ThreadPool& pool) {
  const int64_t first_panel = first_row / kPanelRows;
  const int64_t last_panel = (first_row + rows - 1) / kPanelRows;
  pool.run(last_panel - first_panel + 1, [&](int64_t tile, int) {
    const int64_t begin = std::max(first_row, (first_panel + tile) * kPanelRows);
    const int64_t end = std::min(first_row + rows, (first_panel + tile + 1) * kPanelRows);
    const std::byte* from = window + (begin - first_row) * part.cols * size_of(part.dtype);
    pack_band(part.dtype, matrix.stored(), from, end - begin, part.cols, matrix.weight(begin));
  });
}

}  // namespace

PackedMatrix::PackedMatrix(int64_t row_count, int64_t col_count, DType stored) : stored_(stored) {
  rows = row_count;
  cols = col_count;
  weights_ = AnonymousMemory(panels() * kPanelRows * cols * size_of(stored));
  if (stored == DType::kF8E4M3) {
    scales_ = AnonymousMemory(panels() * kPanelRows * depth_blocks() * sizeof(float));
  }
  bytes = weights_.bytes() + scales_.bytes();
}

PanelView PackedMatrix::panel(int64_t index) const {
  const int64_t row = index * kPanelRows;
  return {weight(row), stored_ == DType::kF8E4M3 ? scale(row) : nullptr, cols, stored_};
}

std::byte* PackedMatrix::weight(int64_t row) const {
  return weights_.at((row / kPanelRows * kPanelRows * cols + row % kPanelRows) * size_of(stored_));
}

float* PackedMatrix::scale(int64_t row) const {
  const int64_t index = row / kPanelRows * kPanelRows * depth_blocks() + row % kPanelRows;
  return reinterpret_cast<float*>(scales_.at(index * sizeof(float)));
}

std::unique_ptr<PackedMatrix> pack_matrix(std::span<const MatrixPart> parts, DType keep,
                                          const std::function<void(uint64_t)>& on_bytes, ThreadPool& pool) {
  int64_t rows = 0;
  for (const MatrixPart& part : parts) rows += part.rows;
  const DType stored = parts.front().dtype == DType::kF8E4M3 ? DType::kF8E4M3 : keep;
  auto matrix = std::make_unique<PackedMatrix>(rows, parts.front().cols, stored);

  std::vector<std::byte> window;
  int64_t first_row = 0;
  for (const MatrixPart& part : parts) {
    const int64_t row_bytes = part.cols * size_of(part.dtype);
    const int64_t window_rows = std::clamp<int64_t>(kWindowBytes / row_bytes, 1, part.rows);
    if (stored == DType::kF8E4M3) pack_scales(part, first_row, *matrix);
    for (int64_t row = 0; row < part.rows; row += window_rows) {
      const int64_t count = std::min(window_rows, part.rows - row);
      window.resize(std::max<size_t>(window.size(), count * row_bytes));
      const std::span<std::byte> bytes(window.data(), count * row_bytes);
      part.read(row * row_bytes, bytes);
      pack_window(part, window.data(), count, first_row + row, *matrix, pool);
      on_bytes(bytes.size());
    }
    first_row += part.rows;
  }
  return matrix;
}

}  // namespace llmservice::cpu
