// What LoRA adapters add to a product: first a tile's rows by A, cut over blocks by ranks and by columns,
// then by B. A row's sums depend on its pair's shape alone: over the columns of a thread, the lanes and the
// warps of a block and the cuts, in this order. Which adapters a step has and how many rows each is in the
// tiles, not in the launches, so that these repeat.
#pragma once

#include "backends/gpu/launch.h"
#include "ops/ops.h"

namespace llmservice::gpu {

constexpr int kLowRankRows = 8;  // of a tile

// Rows of one adapter.
struct LowRankTile {
  const LowRank* pairs;  // (places, kLowRankPairs) on the device
  int32_t first;
  int32_t count;  // 1 to kLowRankRows; 0: the tile is none
};

// What the adapters of a step have at one place.
struct LowRankStep {
  const LowRankTile* tiles;  // (count) on the device
  int64_t count;
  int64_t place;
  int64_t pairs;    // of one adapter, at most
  int64_t outputs;  // of one pair, at most
};

// Floats that each row takes between both products, where adapters have ranks up to `max_rank`.
int64_t low_rank_floats(int64_t max_rank);

// `shrunk`: (T, row_floats), with row_floats of low_rank_floats().
Launches add_low_rank(const LowRankStep& step, const float* x, int64_t cols, float* shrunk,
                      int64_t row_floats, float* out, int64_t out_stride);

}  // namespace llmservice::gpu
