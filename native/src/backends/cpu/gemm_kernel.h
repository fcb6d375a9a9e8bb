// One weight panel (64 outputs) times some rows of activations.
// total = Σ over K blocks of 128, in order, of (chain of fused multiply-adds within the block) · scale.
// Few rows: weights go from memory to registers, anew for each pass of L::kDirectRows. Many: each K block is
// widened once into scratch, which then feeds register blocks. Both are the same chains, so the number of
// rows never shows in the bits.
#pragma once

#include "backends/cpu/block_columns.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/product.h"
#include "backends/cpu/weight_columns.h"

namespace llmservice::cpu {

// total (64) += partial (64) · scale (64); without scales a plain sum.
template <class L>
void add_block(const L (&partial)[4], const float* scale, float* total) {
  for (int j = 0; j < 4; ++j) {
    const L before = L::load(total + L::kCount * j);
    const L after =
        scale != nullptr ? fma(partial[j], L::load(scale + L::kCount * j), before) : before + partial[j];
    after.store(total + L::kCount * j);
  }
}

inline const float* block_scales(const PanelView& panel, int64_t block) {
  return panel.scales != nullptr ? panel.scales + block * panel.scale_step : nullptr;
}

// How far ahead of use a panel is fetched: about the latency of memory at one core's share of its bandwidth.
constexpr int kPrefetchBytes = 2048;

template <class L, class W, int R>
void multiply_few_rows(const PanelView& panel, const float* x, int64_t x_stride, float* total) {
  W weights(panel);
  for (int64_t block = 0; block * kDepthBlock < panel.depth; ++block) {
    const int64_t begin = block * kDepthBlock;
    const int64_t end = begin + kDepthBlock < panel.depth ? begin + kDepthBlock : panel.depth;
    L acc[R][4];
    for (int r = 0; r < R; ++r) {
      for (int j = 0; j < 4; ++j) acc[r][j] = L::zero();
    }
    for (int64_t k = begin; k < end;) {
      const int64_t stop = k + W::kStep < end ? k + W::kStep : end;
      weights.template fetch<kPrefetchBytes, 3>(stop - k);
      for (; k < stop; ++k) {
        L column[4];
        weights.template next<kPrefetchBytes, 3>(column);
        for (int r = 0; r < R; ++r) {
          const L value = L::set(x[r * x_stride + k]);
          for (int j = 0; j < 4; ++j) acc[r][j] = fma(value, column[j], acc[r][j]);
        }
      }
    }
    const float* scale = block_scales(panel, block);
    for (int r = 0; r < R; ++r) add_block<L>(acc[r], scale, total + r * kPanelRows);
  }
}

// scratch: widened K block (128, 64), then partial sums of a row block (6, 64).
template <class L, class W>
void multiply_many_rows(const PanelView& panel, const float* x, int64_t x_stride, int rows, float* scratch,
                        float* total) {
  float* widened = scratch;
  float* partial = scratch + kDepthBlock * kPanelRows;
  // The next block arrives while this one is multiplied.
  constexpr int kAhead = kDepthBlock * W::kColumnBytes;
  W weights(panel);
  for (int64_t block = 0; block * kDepthBlock < panel.depth; ++block) {
    const int64_t begin = block * kDepthBlock;
    const int depth =
        static_cast<int>(panel.depth - begin < kDepthBlock ? panel.depth - begin : int64_t{kDepthBlock});
    for (int k = 0; k < depth;) {
      const int stop = k + W::kStep < depth ? k + W::kStep : depth;
      weights.template fetch<kAhead, 2>(stop - k);
      for (; k < stop; ++k) {
        L column[4];
        weights.template next<kAhead, 2>(column);
        for (int j = 0; j < 4; ++j) column[j].store(widened + k * kPanelRows + L::kCount * j);
      }
    }
    const float* scale = block_scales(panel, block);
    for (int first = 0; first < rows; first += kBlockRows) {
      const int count = rows - first < kBlockRows ? rows - first : kBlockRows;
      for (int j = 0; j < kPanelRows; j += L::kBlockVectors * L::kCount) {
        product_rows<L, false, L::kBlockVectors>({x + first * x_stride + begin, x_stride, 1},
                                                 {widened + j, kPanelRows}, depth, {partial + j, kPanelRows},
                                                 count);
      }
      for (int r = 0; r < count; ++r) {
        L sums[4];
        for (int j = 0; j < 4; ++j) sums[j] = L::load(partial + r * kPanelRows + L::kCount * j);
        add_block<L>(sums, scale, total + (first + r) * kPanelRows);
      }
    }
  }
}

// At most L::kDirectRows rows.
template <class L, class W>
void multiply_pass(const PanelView& panel, const float* x, int64_t x_stride, int rows, float* total) {
  switch (rows) {
    case 1:
      return multiply_few_rows<L, W, 1>(panel, x, x_stride, total);
    case 2:
      return multiply_few_rows<L, W, 2>(panel, x, x_stride, total);
    case 3:
      return multiply_few_rows<L, W, 3>(panel, x, x_stride, total);
    case 4:
      return multiply_few_rows<L, W, 4>(panel, x, x_stride, total);
    case 5:
      return multiply_few_rows<L, W, 5>(panel, x, x_stride, total);
    case 6:
      return multiply_few_rows<L, W, 6>(panel, x, x_stride, total);
  }
}

// Up to as many passes, widening a panel again in registers costs less than storing what it widens to.
constexpr int kMaxPasses = 4;

template <class L, class W>
void multiply_weights(const PanelView& panel, const float* x, int64_t x_stride, int rows, float* scratch,
                      float* total) {
  int passes = (rows + L::kDirectRows - 1) / L::kDirectRows;
  if (passes > kMaxPasses) return multiply_many_rows<L, W>(panel, x, x_stride, rows, scratch, total);
  for (; passes > 0; --passes) {
    const int count = (rows + passes - 1) / passes;  // as even as may be
    multiply_pass<L, W>(panel, x, x_stride, count, total);
    x += count * x_stride;
    total += count * kPanelRows;
    rows -= count;
  }
}

// total (rows, 64) must be zero on entry.
template <class L>
void multiply_panel(const PanelView& panel, const float* x, int64_t x_stride, int rows, float* scratch,
                    float* total) {
  switch (panel.dtype) {
    case DType::kF8E4M3:
      return multiply_weights<L, Fp8Columns<L>>(panel, x, x_stride, rows, scratch, total);
    case DType::kBF16:
      return multiply_weights<L, Bf16Columns<L>>(panel, x, x_stride, rows, scratch, total);
    case DType::kF16:
      return multiply_weights<L, F16Columns<L>>(panel, x, x_stride, rows, scratch, total);
    case DType::kI8:
      return multiply_weights<L, Int8Columns<L>>(panel, x, x_stride, rows, scratch, total);
    case DType::kF4E2M1:
      return multiply_weights<L, Fp4Columns<L>>(panel, x, x_stride, rows, scratch, total);
    case DType::kF32:
      return multiply_weights<L, F32Columns<L>>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ8_0:
      return multiply_weights<L, Q8Columns<L>>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ4_0:
      return multiply_weights<L, NibbleColumns<L, DType::kQ4_0>>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ4_K:
      return multiply_weights<L, NibbleColumns<L, DType::kQ4_K>>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ4_1:
      return multiply_weights<L, NibbleColumns<L, DType::kQ4_1>>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ5_0:
      return multiply_weights<L, NibbleColumns<L, DType::kQ5_0>>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ5_1:
      return multiply_weights<L, NibbleColumns<L, DType::kQ5_1>>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ5_K:
      return multiply_weights<L, NibbleColumns<L, DType::kQ5_K>>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ2_K:
      return multiply_weights<L, PairColumns<L, DType::kQ2_K>>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ3_K:
      return multiply_weights<L, PairColumns<L, DType::kQ3_K>>(panel, x, x_stride, rows, scratch, total);
    case DType::kIQ4_NL:
      return multiply_weights<L, NibbleColumns<L, DType::kIQ4_NL>>(panel, x, x_stride, rows, scratch, total);
    case DType::kIQ4_XS:
      return multiply_weights<L, NibbleColumns<L, DType::kIQ4_XS>>(panel, x, x_stride, rows, scratch, total);
    case DType::kMXFP4:
      return multiply_weights<L, NibbleColumns<L, DType::kMXFP4>>(panel, x, x_stride, rows, scratch, total);
    case DType::kInt4:
      return multiply_weights<L, NibbleColumns<L, DType::kInt4>>(panel, x, x_stride, rows, scratch, total);
    case DType::kInt8:
      return multiply_weights<L, Int8BlockColumns<L>>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ6_K:
      return multiply_weights<L, Q6KColumns<L>>(panel, x, x_stride, rows, scratch, total);
  }
}

}  // namespace llmservice::cpu
