// What a product must be to the last bit: its contract in scalar code.
#pragma once

#include <cmath>

#include "ops_support.h"

namespace llmservice::testing {

// The contract of an output element: chains of fused multiply-adds over 128 columns, then the block's scale.
inline float chained_dot(const StoredMatrix& w, int64_t row, const float* widened, const float* x) {
  const bool scaled = !w.scales.empty();
  float total = 0;
  for (int64_t begin = 0; begin < w.cols; begin += 128) {
    float partial = 0;
    for (int64_t k = begin; k < std::min(begin + 128, w.cols); ++k) {
      partial = std::fma(x[k], widened[k], partial);
    }
    total = scaled ? std::fma(partial, w.scale(row, begin), total) : total + partial;
  }
  return total;
}

// Output `row` for every row of x.
inline void chained_row(const StoredMatrix& w, int64_t row, std::span<const float> x, float* out,
                        int64_t out_stride) {
  std::vector<float> widened(w.cols);
  for (int64_t k = 0; k < w.cols; ++k) widened[k] = w.value(row, k);
  for (size_t t = 0; t < x.size() / w.cols; ++t) {
    out[t * out_stride] = chained_dot(w, row, widened.data(), &x[t * w.cols]);
  }
}

}  // namespace llmservice::testing
