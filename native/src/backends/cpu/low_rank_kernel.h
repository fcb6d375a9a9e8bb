// Products of low rank, some rows at a time. Every element is made in one order of additions that depends on
// the shapes alone, so that its bits say nothing of the rows beside its own.
#pragma once

#include "backends/cpu/kernels.h"
#include "backends/cpu/row_kernels.h"

namespace llmservice::cpu {

template <class L>
struct F32Lanes {
  using Held = float;
  static L load(const float* p, int n = L::kCount) { return L::load(p, n); }
};

template <class L>
struct Bf16Lanes {
  using Held = uint16_t;
  static L load(const uint16_t* p, int n = L::kCount) { return L::load_bf16(p, n); }
};

// Rows that take a weight from memory together.
constexpr int kLowRankRows = 4;

// One row waits for memory alone, and the processor's own reads ahead end with a page: this takes what lies
// two pages on into the second cache.
inline void fetch_ahead(const void* weight) {
  __builtin_prefetch(static_cast<const std::byte*>(weight) + 8192, 0, 2);
}

// Four chains, one for each depth modulo 4: with few rows one would wait for its own multiply-adds.
template <class L, class W, int R>
void shrink_rows(const LowRankTile& t, int64_t row, int64_t lane) {
  const int64_t width = t.pair->width();
  const auto* a = reinterpret_cast<const typename W::Held*>(t.pair->a) + lane;
  const float* x = t.x + row * t.x_stride;
  L acc[R][4];
  for (auto& chains : acc) {
    for (L& chain : chains) chain = L::zero();
  }
  int64_t d = 0;
  for (; d + 4 <= t.pair->cols; d += 4) {
    for (int c = 0; c < 4; ++c) {
      fetch_ahead(a + (d + c) * width);
      const L weight = W::load(a + (d + c) * width);
      for (int r = 0; r < R; ++r) acc[r][c] = fma(L::set(x[r * t.x_stride + d + c]), weight, acc[r][c]);
    }
  }
  for (; d < t.pair->cols; ++d) {
    const L weight = W::load(a + d * width);
    for (int r = 0; r < R; ++r) acc[r][0] = fma(L::set(x[r * t.x_stride + d]), weight, acc[r][0]);
  }
  const L scale = L::set(t.pair->scale);
  for (int r = 0; r < R; ++r) {
    (((acc[r][0] + acc[r][1]) + (acc[r][2] + acc[r][3])) * scale).store(t.shrunk + (row + r) * width + lane);
  }
}

template <class L, class W, int R>
void expand_rows(const LowRankTile& t, int64_t row) {
  static_assert(L::kCount == kRankLanes);
  const int64_t width = t.pair->width();
  const auto* b = reinterpret_cast<const typename W::Held*>(t.pair->b);
  const float* shrunk = t.shrunk + row * width;
  for_lanes<L>(t.columns, [&](int64_t i, int n) {
    const auto* panel = b + (t.column + i) * t.pair->rank;
    L acc[R];
    for (L& sum : acc) sum = L::zero();
    for (int64_t d = 0; d < t.pair->rank; ++d) {
      fetch_ahead(panel + d * kRankLanes);
      const L weight = W::load(panel + d * kRankLanes);
      for (int r = 0; r < R; ++r) acc[r] = fma(L::set(shrunk[r * width + d]), weight, acc[r]);
    }
    for (int r = 0; r < R; ++r) {
      float* out = t.out + (row + r) * t.out_stride + t.pair->first + t.column + i;
      (L::load(out, n) + acc[r]).store(out, n);
    }
  });
}

template <class L, class W>
void shrink_tile(const LowRankTile& t) {
  for (int64_t lane = 0; lane < t.pair->width(); lane += L::kCount) {
    int64_t row = 0;
    for (; row + kLowRankRows <= t.rows; row += kLowRankRows) shrink_rows<L, W, kLowRankRows>(t, row, lane);
    for (; row < t.rows; ++row) shrink_rows<L, W, 1>(t, row, lane);
  }
}

template <class L, class W>
void expand_tile(const LowRankTile& t) {
  int64_t row = 0;
  for (; row + kLowRankRows <= t.rows; row += kLowRankRows) expand_rows<L, W, kLowRankRows>(t, row);
  for (; row < t.rows; ++row) expand_rows<L, W, 1>(t, row);
}

template <class L>
void shrink(const LowRankTile& t) {
  t.pair->dtype == DType::kF32 ? shrink_tile<L, F32Lanes<L>>(t) : shrink_tile<L, Bf16Lanes<L>>(t);
}

template <class L>
void expand(const LowRankTile& t) {
  t.pair->dtype == DType::kF32 ? expand_tile<L, F32Lanes<L>>(t) : expand_tile<L, Bf16Lanes<L>>(t);
}

}  // namespace llmservice::cpu
