// Products of low rank that are added to those of weight matrices: what a LoRA adapter holds of linear
// layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ops/matrix.h"

namespace llmservice {

class Buffer;

// A has ranks, and B outputs, in whole groups of as many lanes.
constexpr int64_t kRankLanes = 16;
constexpr int64_t kMaxAdapterRank = 256;
// Parts of one matrix, such as q, k and v, that an adapter may hold pairs of.
constexpr int64_t kLowRankPairs = 3;

// A (rank, cols) and B (rows, rank) in memory of the backend, in the order in which kernels read them.
struct LowRank {
  const std::byte* a = nullptr;  // (cols, width): columns behind `rank` are zero
  const std::byte* b = nullptr;  // (rows / kRankLanes, rank, kRankLanes): outputs behind `rows` are zero
  DType dtype = DType::kBF16;    // kF32 or kBF16, of both
  int64_t rank = 0;
  int64_t cols = 0;
  int64_t rows = 0;
  int64_t first = 0;  // output of the weight matrix that it begins with
  float scale = 0;

  int64_t width() const { return (rank + kRankLanes - 1) / kRankLanes * kRankLanes; }
  int64_t a_values() const { return cols * width(); }
  int64_t b_values() const { return (rows + kRankLanes - 1) / kRankLanes * kRankLanes * rank; }
  // Where a value of A and B lies among the others.
  int64_t a_at(int64_t r, int64_t column) const { return column * width() + r; }
  int64_t b_at(int64_t row, int64_t r) const {
    return (row / kRankLanes * rank + r) * kRankLanes + row % kRankLanes;
  }
};

// What an adapter holds of all matrices, which are numbered as places.
struct LowRankTable {
  std::vector<LowRank> pairs;     // (places, kLowRankPairs); those without rows are none, behind all others
  std::unique_ptr<Buffer> index;  // what a backend wants with them, made by index_pairs()

  explicit LowRankTable(int64_t places) : pairs(places * kLowRankPairs) {}
  std::span<LowRank> all_at(int64_t place) {
    return std::span(pairs).subspan(place * kLowRankPairs, kLowRankPairs);
  }
  // Those that are there.
  std::span<const LowRank> at(int64_t place) const {
    const auto all = std::span(pairs).subspan(place * kLowRankPairs, kLowRankPairs);
    size_t count = 0;
    while (count < all.size() && all[count].rows > 0) ++count;
    return all.first(count);
  }
};

// Rows [first, first + count) of a step that `adapter` changes.
struct LowRankRows {
  const LowRankTable* adapter;
  int64_t first;
  int64_t count;
};

// Part of every backend.
class AdapterOps {
 public:
  // Whether add_low_rank() is there.
  virtual bool adapts() const { return false; }
  // Before the first add_low_rank() with it, once all of its pairs are there.
  virtual void index_pairs(LowRankTable&) {}
  // out[:, pair.first:][:, :pair.rows] += scale · x · Aᵀ · Bᵀ in each entry's rows, of each pair that its
  // adapter has at `place`; x (T, cols), of which all these pairs take the columns; out has row stride
  // `out_stride`.
  virtual void add_low_rank(std::span<const LowRankRows>, int64_t /*place*/, const float* /*x*/,
                            int64_t /*cols*/, float* /*out*/, int64_t /*out_stride*/) {}

 protected:
  ~AdapterOps() = default;
};

}  // namespace llmservice
