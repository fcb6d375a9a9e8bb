// Products of low rank that are added to those of a weight matrix: what a LoRA adapter holds of a linear
// layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/matrix.h"

namespace llmservice {

// Ranks are stored in whole groups of lanes.
constexpr int64_t kRankLanes = 16;

// A (rank, cols) and B (rows, rank), transposed and in memory of the backend.
struct LowRank {
  const std::byte* a;  // (cols, width): columns behind `rank` are zero
  const std::byte* b;  // (rank, rows)
  DType dtype;         // kF32 or kBF16, of both
  int64_t rank;
  int64_t cols;
  int64_t rows;
  int64_t first;  // output of the weight matrix that it begins with
  float scale;

  int64_t width() const { return (rank + kRankLanes - 1) / kRankLanes * kRankLanes; }
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
