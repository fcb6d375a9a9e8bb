// Matrix products and table look-ups over packed panels.
#include <algorithm>

#include "backends/cpu/backend.h"

namespace llmservice::cpu {
namespace {

// Multiply-adds, or values to round, below which one thread is done before others have woken.
constexpr int64_t kInlineWork = 65536;

// Rows whose activations are reordered at once, which bounds the memory for it.
constexpr int64_t kReorderedRows = 256;

}  // namespace

const float* CpuBackend::reordered(const float* x, int64_t rows, std::span<const int32_t> order) {
  const auto cols = static_cast<int64_t>(order.size());
  float* const out = scratch_.ordered(rows * cols);
  const auto reorder = [&](int64_t row) {
    for (int64_t k = 0; k < cols; ++k) out[row * cols + k] = x[row * cols + order[k]];
  };
  if (rows * cols <= kInlineWork) {
    for (int64_t row = 0; row < rows; ++row) reorder(row);
  } else {
    for_rows(rows, cols, reorder);
  }
  return out;
}

FixedRows CpuBackend::fixed_rows(const float* x, int64_t rows, int64_t cols) {
  const int64_t blocks = cols / kDepthBlock;
  auto* const memory = scratch_.shared(blocks * rows * sizeof(FixedBlock) / sizeof(float));
  auto* const out = reinterpret_cast<FixedBlock*>(memory);
  const auto fix = [&](int64_t i) {
    kernels_.fix_block(x + i / blocks * cols + i % blocks * kDepthBlock,
                       out + i % blocks * rows + i / blocks);
  };
  if (rows * cols <= kInlineWork) {
    for (int64_t i = 0; i < rows * blocks; ++i) fix(i);
  } else {
    for_rows(rows * blocks, kDepthBlock, fix);
  }
  return {out, rows};
}

ProductRows CpuBackend::rows_for(const float* x, int64_t rows, int64_t cols, const RowForms& forms) {
  ProductRows out{x, cols, {}, {}};
  if (forms.fixed) out.fixed = fixed_rows(x, rows, cols);  // a family has one of both
  const int64_t blocks = (cols + kDepthBlock - 1) / kDepthBlock;
  // Of one order: numbers of two bytes, then sums.
  const int64_t floats = blocks * rows * (kDepthBlock / 2 + kBlockSums);
  const int64_t count = std::ranges::count(forms.pairs, true);
  if (count == 0) return out;
  float* memory = scratch_.shared(count * floats);
  for (int order = 0; order < kPairOrders; ++order) {
    if (!forms.pairs[order]) continue;
    auto* const pairs = reinterpret_cast<uint16_t*>(memory);
    const bool adds = static_cast<PairOrder>(order) == PairOrder::kFourApart;
    float* const sums = adds ? memory + blocks * rows * kDepthBlock / 2 : nullptr;
    const auto round = [&](int64_t i) {
      const int64_t row = i / blocks;
      const int64_t begin = i % blocks * kDepthBlock;
      const int64_t place = i % blocks * rows + row;
      kernels_.round_block(x + row * cols + begin,
                           static_cast<int>(std::min<int64_t>(cols - begin, kDepthBlock)),
                           static_cast<PairOrder>(order), pairs + place * kDepthBlock,
                           adds ? sums + place * kBlockSums : nullptr);
    };
    if (rows * cols <= kInlineWork) {
      for (int64_t i = 0; i < rows * blocks; ++i) round(i);
    } else {
      for_rows(rows * blocks, kDepthBlock, round);
    }
    out.pairs[order] = {pairs, rows, sums};
    memory += floats;
  }
  return out;
}

void CpuBackend::multiply_tile(const PackedMatrix& matrix, int64_t panel, const ProductRows& x, int64_t rows,
                               float* out, int worker) {
  float* total = scratch_.of_worker(worker, kPanelScratch + kTileRows * kPanelRows);
  float* panel_scratch = total + kTileRows * kPanelRows;
  std::fill_n(total, rows * kPanelRows, 0.0f);
  const PlacedPanel placed = matrix.panel(panel);
  const auto count = static_cast<int>(rows);
  if (placed.view.activations == Activations::kBf16) {
    kernels_.multiply_pairs(placed.view, x.in(pair_order(placed.view.dtype)), count, panel_scratch, total);
  } else if (placed.view.activations == Activations::kFixed) {
    kernels_.multiply_fixed(placed.view, x.fixed, count, panel_scratch, total);
  } else {
    kernels_.multiply_panel(placed.view, x.x, x.cols, count, panel_scratch, total);
  }
  for (int64_t r = 0; r < rows; ++r) {
    std::copy_n(total + r * kPanelRows, placed.rows, out + r * matrix.rows + placed.first_row);
  }
}

void CpuBackend::matmul(const Matrix& w, const float* x, int64_t rows, float* out) {
  const auto& matrix = static_cast<const PackedMatrix&>(w);
  if (matrix.order().empty()) return multiply(matrix, x, rows, out);
  for (int64_t first = 0; first < rows; first += kReorderedRows) {
    const int64_t count = std::min(rows - first, kReorderedRows);
    multiply(matrix, reordered(x + first * matrix.cols, count, matrix.order()), count,
             out + first * matrix.rows);
  }
}

void CpuBackend::multiply(const PackedMatrix& matrix, const float* x, int64_t rows, float* out) {
  const ProductRows input = rows_for(x, rows, matrix.cols, matrix.row_forms());
  const int64_t row_tiles = (rows + kTileRows - 1) / kTileRows;
  const auto multiply_one = [&](int64_t tile, int worker) {
    const int64_t panel = tile / row_tiles;  // neighbours in time share a panel, which is then in cache
    const int64_t first = tile % row_tiles * kTileRows;
    multiply_tile(matrix, panel, input.from(first), std::min(kTileRows, rows - first),
                  out + first * matrix.rows, worker);
  };
  const int64_t tiles = matrix.panels() * row_tiles;
  if (rows * matrix.rows * matrix.cols < kInlineWork) {
    for (int64_t tile = 0; tile < tiles; ++tile) multiply_one(tile, 0);
  } else {
    pool_.run(tiles, multiply_one);
  }
}

void CpuBackend::gather(const Matrix& table, std::span<const int32_t> ids, float* out) {
  const auto& matrix = static_cast<const PackedMatrix&>(table);
  // Neighbouring columns of a row, or pairs of them, lie a panel's width apart: a cache line each.
  constexpr int64_t kLineFloats = 16;
  for_rows(static_cast<int64_t>(ids.size()), matrix.cols * kLineFloats, [&](int64_t i) {
    float* row = out + i * matrix.cols;
    if (ids[i] == kNoRow) {
      std::fill_n(row, matrix.cols, 0.0f);
    } else {
      matrix.widen_row(ids[i], row);
    }
  });
}

}  // namespace llmservice::cpu
