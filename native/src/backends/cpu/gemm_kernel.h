// One weight panel (64 outputs) times some rows of activations.
// total = Σ over K blocks of 128, in order, of (chain of fused multiply-adds within the block) · scale.
// Outputs are summed in parts, K block by K block in turn, whose sums, scales and codes fit a family's
// registers. Few rows: weights go from memory to registers, anew for each pass of up to L::direct_rows. Many:
// each K block is widened once into scratch, which then feeds register blocks. Both are the same chains, so
// the number of rows never shows in the bits.
#pragma once

#include "backends/cpu/block_columns.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/product.h"
#include "backends/cpu/weight_columns.h"

namespace llmservice::cpu {

// total += partial · scale, of V vectors; without scales a plain sum.
template <class L, int V>
void add_block(const L (&partial)[V], const float* scale, float* total) {
  for (int j = 0; j < V; ++j) {
    const L before = L::load(total + L::kCount * j);
    const L after =
        scale != nullptr ? fma(partial[j], L::load(scale + L::kCount * j), before) : before + partial[j];
    after.store(total + L::kCount * j);
  }
}

// Of a panel's output `first`.
inline const float* block_scales(const PanelView& panel, int64_t block, int first) {
  return panel.scales != nullptr ? panel.scales + block * panel.scale_step + first : nullptr;
}

constexpr Held held_as(DType t) {
  if (t == DType::kBF16) return Held::kPairs;
  const int bits = t == DType::kF4E2M1 ? 4 : panel_form(t).code_bits;
  return bits == 2 || bits == 4 ? Held::kWords : Held::kElements;
}

// How a panel of that type is walked.
template <class L, int V, DType kType>
auto walk_columns(const PanelPlace& place) {
  if constexpr (kType == DType::kF8E4M3) {
    return Fp8Columns<L, V>(place);
  } else if constexpr (kType == DType::kBF16) {
    return Bf16Columns<L, V>(place);
  } else if constexpr (kType == DType::kF16) {
    return F16Columns<L, V>(place);
  } else if constexpr (kType == DType::kF32) {
    return F32Columns<L, V>(place);
  } else if constexpr (kType == DType::kI8) {
    return Int8Columns<L, V>(place);
  } else if constexpr (kType == DType::kF4E2M1) {
    return Fp4Columns<L, V>(place);
  } else if constexpr (kType == DType::kQ8_0) {
    return Q8Columns<L, V>(place);
  } else if constexpr (kType == DType::kInt8) {
    return Int8BlockColumns<L, V>(place);
  } else if constexpr (kType == DType::kQ6_K) {
    return Q6KColumns<L, V>(place);
  } else if constexpr (panel_form(kType).code_bits == 2) {
    return PairColumns<L, V, kType>(place);
  } else {
    return NibbleColumns<L, V, kType>(place);
  }
}

// How far ahead of use a panel is fetched that is walked whole: about the latency of memory at one core's
// share of its bandwidth. Of one walked in parts, the next K block is.
constexpr int kPrefetchBytes = 2048;

template <class L, DType kType, int R>
void multiply_few_rows(const PanelView& panel, const float* x, int64_t x_stride, float* total) {
  constexpr int V = L::walked_vectors(R, held_as(kType));
  constexpr bool kWhole = V * L::kCount == kPanelRows;
  for (int64_t block = 0; block * kDepthBlock < panel.depth; ++block) {
    const int64_t begin = block * kDepthBlock;
    const int64_t end = begin + kDepthBlock < panel.depth ? begin + kDepthBlock : panel.depth;
    for (int first = 0; first < kPanelRows; first += V * L::kCount) {
      auto weights = walk_columns<L, V, kType>({panel, block, first});
      constexpr int kAhead = kWhole ? kPrefetchBytes : kDepthBlock * decltype(weights)::kColumnBytes;
      constexpr int kLocality = kWhole || held_as(kType) == Held::kWords ? 3 : 2;
      L acc[R][V];
      for (int r = 0; r < R; ++r) {
        for (int j = 0; j < V; ++j) acc[r][j] = L::zero();
      }
      const auto add = [&](int64_t k, const L(&column)[V]) {
        for (int r = 0; r < R; ++r) {
          const L value = L::set(x[r * x_stride + k]);
          for (int j = 0; j < V; ++j) acc[r][j] = fma(value, column[j], acc[r][j]);
        }
      };
      for (int64_t k = begin; k < end;) {
        const int64_t stop = k + weights.kStep < end ? k + weights.kStep : end;
        weights.template fetch<kAhead, kLocality>(stop - k);
        if constexpr (!kWhole && held_as(kType) == Held::kWords) {
          // By way of memory: sums and what widens codes do not fit the registers together. Blocks of the
          // type, which are whole steps, make up a row.
          static_assert(kDepthBlock % weights.kStep == 0);
          alignas(64) float widened[weights.kStep][V * L::kCount];
          for (auto& to : widened) {
            L column[V];
            weights.template next<kAhead, kLocality>(column);
            for (int j = 0; j < V; ++j) column[j].store(to + L::kCount * j);
          }
          for (const auto& from : widened) {
            L column[V];
            for (int j = 0; j < V; ++j) column[j] = L::load(from + L::kCount * j);
            add(k++, column);
          }
        } else {
          for (; k < stop; ++k) {
            L column[V];
            weights.template next<kAhead, kLocality>(column);
            add(k, column);
          }
        }
      }
      const float* scale = block_scales(panel, block, first);
      for (int r = 0; r < R; ++r) add_block(acc[r], scale, total + r * kPanelRows + first);
    }
  }
}

// scratch: widened K block (128, 64), then partial sums of a row block (6, 64).
template <class L, DType kType>
void multiply_many_rows(const PanelView& panel, const float* x, int64_t x_stride, int rows, float* scratch,
                        float* total) {
  float* widened = scratch;
  float* partial = scratch + kDepthBlock * kPanelRows;
  constexpr int V = L::walked_vectors(kBlockRows, held_as(kType));
  for (int64_t block = 0; block * kDepthBlock < panel.depth; ++block) {
    const int64_t begin = block * kDepthBlock;
    const int depth =
        static_cast<int>(panel.depth - begin < kDepthBlock ? panel.depth - begin : int64_t{kDepthBlock});
    for (int first = 0; first < kPanelRows; first += V * L::kCount) {
      auto weights = walk_columns<L, V, kType>({panel, block, first});
      // The next block arrives while this one is multiplied.
      constexpr int kAhead = kDepthBlock * decltype(weights)::kColumnBytes;
      for (int k = 0; k < depth;) {
        const int stop = k + weights.kStep < depth ? k + weights.kStep : depth;
        weights.template fetch<kAhead, 2>(stop - k);
        for (; k < stop; ++k) {
          L column[V];
          weights.template next<kAhead, 2>(column);
          float* const to = widened + k * kPanelRows + first;
          for (int j = 0; j < V; ++j) column[j].store(to + L::kCount * j);
        }
      }
    }
    const float* scale = block_scales(panel, block, 0);
    for (int first = 0; first < rows; first += kBlockRows) {
      const int count = rows - first < kBlockRows ? rows - first : kBlockRows;
      for (int j = 0; j < kPanelRows; j += L::kBlockVectors * L::kCount) {
        product_rows<L, false, L::kBlockVectors>({x + first * x_stride + begin, x_stride, 1},
                                                 {widened + j, kPanelRows}, depth, {partial + j, kPanelRows},
                                                 count);
      }
      for (int r = 0; r < count; ++r) {
        L sums[kPanelRows / L::kCount];
        for (int j = 0; j < kPanelRows / L::kCount; ++j)
          sums[j] = L::load(partial + r * kPanelRows + L::kCount * j);
        add_block(sums, scale, total + (first + r) * kPanelRows);
      }
    }
  }
}

// At most L::direct_rows rows.
template <class L, DType kType>
void multiply_pass(const PanelView& panel, const float* x, int64_t x_stride, int rows, float* total) {
  switch (rows) {
    case 1:
      return multiply_few_rows<L, kType, 1>(panel, x, x_stride, total);
    case 2:
      return multiply_few_rows<L, kType, 2>(panel, x, x_stride, total);
    case 3:
      return multiply_few_rows<L, kType, 3>(panel, x, x_stride, total);
    case 4:
      return multiply_few_rows<L, kType, 4>(panel, x, x_stride, total);
    case 5:
      return multiply_few_rows<L, kType, 5>(panel, x, x_stride, total);
    case 6:
      return multiply_few_rows<L, kType, 6>(panel, x, x_stride, total);
  }
}

template <class L, DType kType>
void multiply_weights(const PanelView& panel, const float* x, int64_t x_stride, int rows, float* scratch,
                      float* total) {
  constexpr int kDirectRows = L::direct_rows(held_as(kType));
  static_assert(kDirectRows <= 6, "multiply_pass has no more");
  int passes = (rows + kDirectRows - 1) / kDirectRows;
  // Up to as many, widening a panel again costs less than storing what it widens to.
  if (passes > L::max_passes(held_as(kType)))
    return multiply_many_rows<L, kType>(panel, x, x_stride, rows, scratch, total);
  for (; passes > 0; --passes) {
    const int count = (rows + passes - 1) / passes;  // as even as may be
    multiply_pass<L, kType>(panel, x, x_stride, count, total);
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
      return multiply_weights<L, DType::kF8E4M3>(panel, x, x_stride, rows, scratch, total);
    case DType::kBF16:
      return multiply_weights<L, DType::kBF16>(panel, x, x_stride, rows, scratch, total);
    case DType::kF16:
      return multiply_weights<L, DType::kF16>(panel, x, x_stride, rows, scratch, total);
    case DType::kI8:
      return multiply_weights<L, DType::kI8>(panel, x, x_stride, rows, scratch, total);
    case DType::kF4E2M1:
      return multiply_weights<L, DType::kF4E2M1>(panel, x, x_stride, rows, scratch, total);
    case DType::kF32:
      return multiply_weights<L, DType::kF32>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ8_0:
      return multiply_weights<L, DType::kQ8_0>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ4_0:
      return multiply_weights<L, DType::kQ4_0>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ4_K:
      return multiply_weights<L, DType::kQ4_K>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ4_1:
      return multiply_weights<L, DType::kQ4_1>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ5_0:
      return multiply_weights<L, DType::kQ5_0>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ5_1:
      return multiply_weights<L, DType::kQ5_1>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ5_K:
      return multiply_weights<L, DType::kQ5_K>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ2_K:
      return multiply_weights<L, DType::kQ2_K>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ3_K:
      return multiply_weights<L, DType::kQ3_K>(panel, x, x_stride, rows, scratch, total);
    case DType::kIQ4_NL:
      return multiply_weights<L, DType::kIQ4_NL>(panel, x, x_stride, rows, scratch, total);
    case DType::kIQ4_XS:
      return multiply_weights<L, DType::kIQ4_XS>(panel, x, x_stride, rows, scratch, total);
    case DType::kMXFP4:
      return multiply_weights<L, DType::kMXFP4>(panel, x, x_stride, rows, scratch, total);
    case DType::kInt4:
      return multiply_weights<L, DType::kInt4>(panel, x, x_stride, rows, scratch, total);
    case DType::kInt8:
      return multiply_weights<L, DType::kInt8>(panel, x, x_stride, rows, scratch, total);
    case DType::kQ6_K:
      return multiply_weights<L, DType::kQ6_K>(panel, x, x_stride, rows, scratch, total);
  }
}

}  // namespace llmservice::cpu
