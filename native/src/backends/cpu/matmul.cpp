// Matrix products and table look-ups over packed panels.
#include <algorithm>

#include "backends/cpu/backend.h"
#include "ops/dtype.h"

namespace llmservice::cpu {
namespace {

// Multiply-adds below which one thread is done before others have woken.
constexpr int64_t kInlineWork = 65536;

}  // namespace

void CpuBackend::multiply_tile(const PackedMatrix& matrix, int64_t panel, const float* x, int64_t rows,
                               float* out, int worker) {
  float* total = scratch_.of_worker(worker, kPanelScratch + kTileRows * kPanelRows);
  float* panel_scratch = total + kTileRows * kPanelRows;
  std::fill_n(total, rows * kPanelRows, 0.0f);
  kernels_.multiply_panel(matrix.panel(panel), x, matrix.cols, static_cast<int>(rows), panel_scratch, total);
  const int64_t column = panel * kPanelRows;
  const int64_t width = std::min<int64_t>(kPanelRows, matrix.rows - column);
  for (int64_t r = 0; r < rows; ++r) {
    std::copy_n(total + r * kPanelRows, width, out + r * matrix.rows + column);
  }
}

void CpuBackend::matmul(const Matrix& w, const float* x, int64_t rows, float* out) {
  const auto& matrix = static_cast<const PackedMatrix&>(w);
  const int64_t row_tiles = (rows + kTileRows - 1) / kTileRows;
  const auto multiply = [&](int64_t tile, int worker) {
    const int64_t panel = tile / row_tiles;  // neighbours in time share a panel, which is then in cache
    const int64_t first = tile % row_tiles * kTileRows;
    multiply_tile(matrix, panel, x + first * matrix.cols, std::min(kTileRows, rows - first),
                  out + first * matrix.rows, worker);
  };
  const int64_t tiles = matrix.panels() * row_tiles;
  if (rows * matrix.rows * matrix.cols < kInlineWork) {
    for (int64_t tile = 0; tile < tiles; ++tile) multiply(tile, 0);
  } else {
    pool_.run(tiles, multiply);
  }
}

void CpuBackend::gather(const Matrix& table, std::span<const int32_t> ids, float* out) {
  const auto& matrix = static_cast<const PackedMatrix&>(table);
  const DType stored = matrix.stored();
  // Neighbouring columns of a row lie a panel's width apart: a cache line each.
  constexpr int64_t kLineFloats = 16;
  for_rows(static_cast<int64_t>(ids.size()), matrix.cols * kLineFloats, [&](int64_t i) {
    const std::byte* weight = matrix.weight(ids[i]);
    float* row = out + i * matrix.cols;
    for (int64_t k = 0; k < matrix.cols; ++k) row[k] = widen(stored, weight, k * kPanelRows);
    if (stored != DType::kF8E4M3) return;
    const float* scale = matrix.scale(ids[i]);
    for (int64_t k = 0; k < matrix.cols; ++k) row[k] *= scale[k / kDepthBlock * kPanelRows] / 256.0f;
  });
}

}  // namespace llmservice::cpu
