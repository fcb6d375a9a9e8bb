// The register-blocked product that the matrix, attention and delta-rule kernels share:
//   c (rows, cols) = a (rows, depth) · b (depth, cols), or c += a · b.
// b is Dense, or reads as it does.
// Every element of c is one chain of fused multiply-adds over ascending depth, so its bits depend on nothing
// but its own row of a and column of b. cols is a multiple of 16.
#pragma once

#include <cstdint>

namespace llmservice::cpu {

// Element (r, d) is data[r · row_step + d · depth_step]: steps of either sign of layout serve a transpose.
struct Broadcast {
  const float* data;
  int64_t row_step;
  int64_t depth_step;
};

// Row-major matrix of lanes.
struct Dense {
  float* data;
  int64_t row_step;

  Dense from_column(int j) const { return {data + j, row_step}; }
  template <class L>
  L load(int row, int column) const {
    return L::load(data + row * row_step + column);
  }
};

constexpr int kBlockRows = 6;  // beside L::kBlockVectors

// Not inlined, so that callers do not decide how well its loop is compiled.
template <class L, bool kAccumulate, int R, int C, class B>
[[gnu::noinline]] void product_block(Broadcast a, B b, int depth, Dense c) {
  L acc[R][C];
  for (int r = 0; r < R; ++r) {
    for (int j = 0; j < C; ++j) {
      acc[r][j] = kAccumulate ? L::load(c.data + r * c.row_step + L::kCount * j) : L::zero();
    }
  }
  for (int d = 0; d < depth; ++d) {
    L column[C];
    for (int j = 0; j < C; ++j) column[j] = b.template load<L>(d, L::kCount * j);
    for (int r = 0; r < R; ++r) {
      const L value = L::set(a.data[r * a.row_step + d * a.depth_step]);
      for (int j = 0; j < C; ++j) acc[r][j] = fma(value, column[j], acc[r][j]);
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int j = 0; j < C; ++j) acc[r][j].store(c.data + r * c.row_step + L::kCount * j);
  }
}

template <class L, bool kAccumulate, int C, class B = Dense>
void product_rows(Broadcast a, B b, int depth, Dense c, int rows) {
  const auto at = [&](int r) { return Broadcast{a.data + r * a.row_step, a.row_step, a.depth_step}; };
  const auto to = [&](int r) { return Dense{c.data + r * c.row_step, c.row_step}; };
  int r = 0;
  for (; r + kBlockRows <= rows; r += kBlockRows) {
    product_block<L, kAccumulate, kBlockRows, C>(at(r), b, depth, to(r));
  }
  switch (rows - r) {
    case 5:
      return product_block<L, kAccumulate, 5, C>(at(r), b, depth, to(r));
    case 4:
      return product_block<L, kAccumulate, 4, C>(at(r), b, depth, to(r));
    case 3:
      return product_block<L, kAccumulate, 3, C>(at(r), b, depth, to(r));
    case 2:
      return product_block<L, kAccumulate, 2, C>(at(r), b, depth, to(r));
    case 1:
      return product_block<L, kAccumulate, 1, C>(at(r), b, depth, to(r));
  }
}

template <class L, bool kAccumulate, class B = Dense>
void product(Broadcast a, B b, int depth, Dense c, int rows, int cols) {
  constexpr int kWide = L::kBlockVectors * L::kCount;
  int j = 0;
  for (; j + kWide <= cols; j += kWide) {
    product_rows<L, kAccumulate, L::kBlockVectors>(a, b.from_column(j), depth, c.from_column(j), rows);
  }
  for (; j < cols; j += L::kCount) {
    product_rows<L, kAccumulate, 1>(a, b.from_column(j), depth, c.from_column(j), rows);
  }
}

}  // namespace llmservice::cpu
