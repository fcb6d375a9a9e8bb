// What LoRA adapters add to products. Their pairs lie on the device, and a list of all pairs of each adapter
// with them: a step brings the rows of each adapter alone, once for all of its products.
#include <algorithm>
#include <bit>

#include "backends/gpu/backend.h"
#include "backends/gpu/kernels/low_rank.h"

namespace llmservice::gpu {

void GpuBackend::index_pairs(LowRankTable& adapter) {
  const auto all = std::as_bytes(std::span(adapter.pairs));
  adapter.index = allocate(all.size());
  upload_now(all, adapter.index->data());
}

void GpuBackend::add_low_rank(std::span<const LowRankRows> entries, int64_t place, const float* x,
                              int64_t cols, float* out, int64_t out_stride) {
  LowRankStep step{.tiles = nullptr, .count = 0, .place = place, .pairs = 0, .outputs = 0};
  int64_t rows = 0;
  low_rank_tiles_.clear();
  for (const auto& [adapter, first, count] : entries) {
    const auto pairs = adapter->at(place);
    step.pairs = std::max(step.pairs, static_cast<int64_t>(pairs.size()));
    for (const LowRank& pair : pairs) step.outputs = std::max(step.outputs, pair.rows);
    rows = std::max(rows, first + count);
    for (int64_t done = 0; done < count; done += kLowRankRows) {
      low_rank_tiles_.push_back(
          {.pairs = static_cast<const LowRank*>(adapter->index->data()),
           .first = static_cast<int32_t>(first + done),
           .count = static_cast<int32_t>(std::min<int64_t>(kLowRankRows, count - done))});
    }
  }
  if (step.pairs == 0) return;
  // Rounded up, so that launches repeat when rows go from one adapter to another.
  low_rank_tiles_.resize(std::bit_ceil(low_rank_tiles_.size()), {});
  step.count = static_cast<int64_t>(low_rank_tiles_.size());
  step.tiles = staged(std::span<const LowRankTile>(low_rank_tiles_));
  const int64_t bytes = rows * low_rank_row_floats_ * static_cast<int64_t>(sizeof(float));
  auto* const shrunk = reinterpret_cast<float*>(memory_of(low_rank_, bytes));
  add(gpu::add_low_rank(step, x, cols, shrunk, low_rank_row_floats_, out, out_stride), rows);
}

}  // namespace llmservice::gpu
