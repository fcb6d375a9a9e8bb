// What adapters add to the product of a weight matrix: first every entry's rows by A, then by B.
#include <algorithm>

#include "backends/cpu/backend.h"

namespace llmservice::cpu {
namespace {

// Rows of a tile, and outputs of one that multiplies by B: enough of them to be worth waking a thread for.
constexpr int64_t kRows = 32;
constexpr int64_t kOutputs = 512;

}  // namespace

void CpuBackend::add_low_rank(std::span<const LowRankRows> entries, int64_t place, const float* x,
                              int64_t cols, float* out, int64_t out_stride) {
  std::vector<LowRankTile> shrinks;
  std::vector<int64_t> shrunk;  // where in the scratch their rows lie
  int64_t floats = 0;
  for (const auto& [adapter, first, count] : entries) {
    for (const LowRank& pair : adapter->at(place)) {
      for (int64_t done = 0; done < count; done += kRows) {
        const int64_t rows = std::min(kRows, count - done);
        shrinks.push_back({.pair = &pair,
                           .x = x + (first + done) * cols,
                           .x_stride = cols,
                           .shrunk = nullptr,
                           .rows = rows,
                           .out = out + (first + done) * out_stride,
                           .out_stride = out_stride,
                           .column = 0,
                           .columns = 0});
        shrunk.push_back(floats);
        floats += rows * pair.width();
      }
    }
  }
  if (shrinks.empty()) return;
  float* const scratch = scratch_.shared(floats);
  std::vector<LowRankTile> expands;
  for (size_t i = 0; i < shrinks.size(); ++i) {
    LowRankTile& tile = shrinks[i];
    tile.shrunk = scratch + shrunk[i];
    for (int64_t column = 0; column < tile.pair->rows; column += kOutputs) {
      expands.push_back(tile);
      expands.back().column = column;
      expands.back().columns = std::min(kOutputs, tile.pair->rows - column);
    }
  }
  pool_.run(static_cast<int64_t>(shrinks.size()), [&](int64_t i, int) { kernels_.shrink(shrinks[i]); });
  pool_.run(static_cast<int64_t>(expands.size()), [&](int64_t i, int) { kernels_.expand(expands[i]); });
}

}  // namespace llmservice::cpu
