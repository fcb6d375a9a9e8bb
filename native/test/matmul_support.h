// What a product must be to the last bit: its contracts in scalar code.
#pragma once

#include <cmath>

#include "fixed_sums.h"
#include "grouped_sums.h"
#include "ops_support.h"

namespace llmservice::testing {

// Whether the backend rounds activations to BF16 where they multiply a matrix of this type, and adds pairs.
inline bool rounds(const Backend& backend, DType held, DType keep = DType::kBF16, int64_t cols = 0) {
  const bool exact = held != DType::kF32 && held != DType::kF16 && (held != DType::kI8 || cols % 8 == 0);
  return has_pairs(backend) && keep == DType::kBF16 && exact;
}

// What the backend rounds activations to where they multiply a matrix of this type; of BF16, whether tiles
// add the products.
enum class Rounding : uint8_t { kNone, kBf16, kTiles, kFixed };

inline Rounding rounding_of(const Backend& backend, DType held, DType keep = DType::kBF16, int64_t cols = 0) {
  if (fixes(backend, held, keep)) return Rounding::kFixed;
  if (!rounds(backend, held, keep, cols)) return Rounding::kNone;
  const bool tiled = held == DType::kBF16 || held == DType::kF8E4M3 || held == DType::kI8;
  return has_tiles(backend) && tiled ? Rounding::kTiles : Rounding::kBf16;
}

// all_backends(), and where products of pairs run, those of tiles by their model.
inline std::vector<std::unique_ptr<Backend>> product_backends() {
  std::vector<std::unique_ptr<Backend>> all = all_backends();
  if (has_pairs(*all.back())) all.push_back(make_cpu_backend({.threads = 2, .isa = "amx-model"}));
  return all;
}

// Of float32 activations: a chain of fused multiply-adds over the columns of a block.
inline float chained_block(const float* x, const float* widened, int64_t columns) {
  float sum = 0;
  for (int64_t k = 0; k < columns; ++k) sum = std::fma(x[k], widened[k], sum);
  return sum;
}

// Of rounded ones: a chain over pairs, the second product of each first. Pairs are neighbours or, within each
// eight, four apart.
inline float paired_block(const float* x, const float* widened, int64_t columns, bool four_apart) {
  float sum = 0;
  const auto add = [&](int64_t k) {
    if (k < columns) sum = std::fma(bf16_to_float(float_to_bf16(x[k])), widened[k], sum);
  };
  for (int64_t p = 0; 2 * p < columns; ++p) {
    const int64_t first = four_apart ? p / 4 * 8 + p % 4 : 2 * p;
    add(first + (four_apart ? 4 : 1));
    add(first);
  }
  return sum;
}

// Of rounded ones on tiles: total += for each 32 columns, first and second products of pairs summed apart.
inline float tiled_sum(const float* x, const float* widened, int64_t columns, bool four_apart) {
  float total = 0;
  for (int64_t step = 0; step < columns; step += 32) {
    float sums[2] = {};
    for (int64_t p = 0; p < 16; ++p) {
      const int64_t first = step + (four_apart ? p / 4 * 8 + p % 4 : 2 * p);
      for (const int64_t i : {0, 1}) {
        const int64_t k = first + i * (four_apart ? 4 : 1);
        if (k < columns) sums[i] = std::fma(bf16_to_float(float_to_bf16(x[k])), widened[k], sums[i]);
      }
    }
    total += sums[0] + sums[1];
  }
  return total;
}

// The contract of an output element on tiles: of BF16 one sum, of others one over each 128 columns, scaled.
inline float tiled_dot(const StoredMatrix& w, int64_t row, const float* widened, const float* x) {
  if (w.dtype == DType::kBF16) return tiled_sum(x, widened, w.cols, false);
  float total = 0;
  for (int64_t begin = 0; begin < w.cols; begin += 128) {
    const float sum =
        tiled_sum(x + begin, widened + begin, std::min<int64_t>(128, w.cols - begin), w.dtype == DType::kI8);
    total = std::fma(sum, w.scale(row, begin), total);
  }
  return total;
}

// The contract of an output element: sums over 128 columns, each times its block's scale.
inline float chained_dot(const StoredMatrix& w, int64_t row, const float* widened, const float* x,
                         bool rounded) {
  const bool scaled = !w.scales.empty();
  float total = 0;
  for (int64_t begin = 0; begin < w.cols; begin += 128) {
    const int64_t columns = std::min<int64_t>(128, w.cols - begin);
    const float sum = rounded ? paired_block(x + begin, widened + begin, columns, w.dtype == DType::kI8)
                              : chained_block(x + begin, widened + begin, columns);
    total = scaled ? std::fma(sum, w.scale(row, begin), total) : total + sum;
  }
  return total;
}

// Output `row` for every row of x.
inline void chained_row(const StoredMatrix& w, int64_t row, std::span<const float> x, float* out,
                        int64_t out_stride, Rounding rounding = Rounding::kNone) {
  if (rounding == Rounding::kFixed) return fixed_row(w, row, x, out, out_stride);
  const bool rounded = rounding != Rounding::kNone;
  std::vector<float> widened(w.cols);
  for (int64_t k = 0; k < w.cols; ++k) widened[k] = w.value(row, k);
  const bool grouped = rounded && (is_block_type(w.dtype) || w.dtype == DType::kF4E2M1);
  const std::vector<ColumnGroup> groups = grouped ? column_groups(w, row) : std::vector<ColumnGroup>{};
  for (size_t t = 0; t < x.size() / w.cols; ++t) {
    if (grouped) {
      out[t * out_stride] = grouped_dot(groups, &x[t * w.cols]);
      continue;
    }
    const float* const of_row = &x[t * w.cols];
    out[t * out_stride] = rounding == Rounding::kTiles ? tiled_dot(w, row, widened.data(), of_row)
                                                       : chained_dot(w, row, widened.data(), of_row, rounded);
  }
}

}  // namespace llmservice::testing
