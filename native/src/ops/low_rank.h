// Products of low rank that are added to those of a weight matrix: what a LoRA adapter holds of a linear
// layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/matrix.h"

namespace llmservice {

// A has ranks, and B outputs, in whole groups of as many lanes.
constexpr int64_t kRankLanes = 16;

// A (rank, cols) and B (rows, rank) in memory of the backend, in the order in which kernels read them.
struct LowRank {
  const std::byte* a;  // (cols, width): columns behind `rank` are zero
  const std::byte* b;  // (rows / kRankLanes, rank, kRankLanes): outputs behind `rows` are zero
  DType dtype;         // kF32 or kBF16, of both
  int64_t rank;
  int64_t cols;
  int64_t rows;
  int64_t first;  // output of the weight matrix that it begins with
  float scale;

  int64_t width() const { return (rank + kRankLanes - 1) / kRankLanes * kRankLanes; }
  int64_t a_values() const { return cols * width(); }
  int64_t b_values() const { return (rows + kRankLanes - 1) / kRankLanes * kRankLanes * rank; }
  // Where a value of A and B lies among the others.
  int64_t a_at(int64_t r, int64_t column) const { return column * width() + r; }
  int64_t b_at(int64_t row, int64_t r) const {
    return (row / kRankLanes * rank + r) * kRankLanes + row % kRankLanes;
  }
};

// Rows [first, first + count) of a step that `pair` adapts.
struct LowRankRows {
  const LowRank* pair;
  int64_t first;
  int64_t count;
};

// Part of every backend.
class AdapterOps {
 public:
  // Whether add_low_rank() is there.
  virtual bool adapts() const { return false; }
  // out[:, pair.first:][:, :pair.rows] += scale · x · Aᵀ · Bᵀ in each entry's rows; x (T, cols), of which all
  // entries' pairs take the columns; out has row stride `out_stride`.
  virtual void add_low_rank(std::span<const LowRankRows>, const float* /*x*/, int64_t /*cols*/,
                            float* /*out*/, int64_t /*out_stride*/) {}

 protected:
  ~AdapterOps() = default;
};

}  // namespace llmservice
