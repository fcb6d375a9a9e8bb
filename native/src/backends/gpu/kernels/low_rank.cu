// Bound by what they read: of A and B for few rows, each value once for the rows of a tile. No matrix
// instructions: activations would be rounded, and even a prompt's products are small beside the base's.
#include <cmath>

#include "backends/gpu/kernels/low_rank.h"
#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/kernels/reduce.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {
namespace {

constexpr uint32_t kThreads = 256;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kEight = 8;    // ranks of a thread that multiplies by A
constexpr int kOutputs = 4;  // of one that multiplies by B
constexpr int64_t kBlockOutputs = kThreads * kOutputs;
constexpr int64_t kStripe = kThreads * kEight / kRankLanes;  // columns of a block at once
// Ranks times cuts that a row of a pair has room for; a pair of more ranks has one cut.
constexpr int64_t kMinSpread = 128;
// Columns that are worth a block.
constexpr int64_t kMinCut = 512;

template <int kCount>
struct alignas(2 * kCount) Halves {
  uint16_t v[kCount];
};

template <int kCount>
__device__ __forceinline__ void load_wide(const std::byte* from, int64_t at, float (&to)[kCount]) {
  const auto halves = *reinterpret_cast<const Halves<kCount>*>(from + at * 2);
#pragma unroll
  for (int i = 0; i < kCount; ++i) to[i] = bf16_to_float(halves.v[i]);
}

struct Cuts {
  int64_t width;
  int64_t count;
  int64_t columns;  // of each, the last ones perhaps fewer or none

  __device__ __forceinline__ explicit Cuts(const LowRank& pair)
      : width((pair.rank + kRankLanes - 1) / kRankLanes * kRankLanes) {
    const int64_t worth = (pair.cols + kMinCut - 1) / kMinCut;
    const int64_t room = width >= kMinSpread ? 1 : kMinSpread / width;
    count = worth < room ? worth : room;
    columns = ((pair.cols + count - 1) / count + kStripe - 1) / kStripe * kStripe;
  }
};

__device__ __forceinline__ const LowRank* pair_of(const LowRankTile& tile, int64_t place) {
  if (tile.count == 0) return nullptr;
  const LowRank* const pair = tile.pairs + place * kLowRankPairs + blockIdx.z;
  return pair->rows == 0 ? nullptr : pair;
}

__device__ __forceinline__ float* row_of(float* shrunk, int64_t row_floats, int64_t row) {
  return shrunk + row * row_floats + blockIdx.z * (row_floats / kLowRankPairs);
}

// Tiles x, cuts and groups of kRankLanes ranks y, pairs z. Neighbouring threads take a column's ranks.
__global__ void __launch_bounds__(kThreads)
    shrink_kernel(const LowRankTile* tiles, int64_t place, const float* x, int64_t cols, float* shrunk,
                  int64_t row_floats) {
  __shared__ float partial[kWarps][kLowRankRows][kRankLanes];
  wait_for_previous();
  let_next_start();
  const LowRankTile tile = tiles[blockIdx.x];
  const LowRank* const held = pair_of(tile, place);
  if (held == nullptr) return;
  const LowRank pair = *held;
  const Cuts cuts(pair);
  const int64_t groups = cuts.width / kRankLanes;
  const int64_t cut = blockIdx.y / groups;
  const int64_t rank = blockIdx.y % groups * kRankLanes;
  if (cut >= cuts.count) return;
  const int64_t own = rank + threadIdx.x % 2 * kEight;
  const int64_t begin = cut * cuts.columns;
  const int64_t end = begin + cuts.columns < cols ? begin + cuts.columns : cols;
  const float* const from = x + tile.first * cols;
  float sums[kLowRankRows][kEight] = {};
  for (int64_t col = begin + threadIdx.x / 2; col < end; col += kStripe) {
    float a[kEight];
    load_wide(pair.a, col * cuts.width + own, a);
#pragma unroll
    for (int j = 0; j < kLowRankRows; ++j) {
      if (j >= tile.count) continue;
      const float value = from[j * cols + col];
#pragma unroll
      for (int i = 0; i < kEight; ++i) sums[j][i] = fmaf(value, a[i], sums[j][i]);
    }
  }
#pragma unroll
  for (int j = 0; j < kLowRankRows; ++j) {
    if (j >= tile.count) continue;
#pragma unroll
    for (int i = 0; i < kEight; ++i) {
      float sum = sums[j][i];
#pragma unroll
      for (int mask = kWarpSize / 2; mask > 1; mask /= 2) sum += shuffle_xor(sum, mask);
      if (lane_id() < 2) partial[warp_id()][j][lane_id() * kEight + i] = sum;
    }
  }
  sync_block();
  for (int32_t i = threadIdx.x; i < tile.count * kRankLanes; i += kThreads) {
    const int64_t lane = i % kRankLanes;
    float sum = 0;
    for (int warp = 0; warp < kWarps; ++warp) sum += partial[warp][i / kRankLanes][lane];
    row_of(shrunk, row_floats, tile.first + i / kRankLanes)[cut * cuts.width + rank + lane] = sum;
  }
}

// Tiles x, outputs y, pairs z.
__global__ void __launch_bounds__(kThreads)
    expand_kernel(const LowRankTile* tiles, int64_t place, float* shrunk, int64_t row_floats, float* out,
                  int64_t out_stride) {
  __shared__ float whole[kLowRankRows][kMaxAdapterRank];
  wait_for_previous();
  let_next_start();
  const LowRankTile tile = tiles[blockIdx.x];
  const LowRank* const held = pair_of(tile, place);
  if (held == nullptr) return;
  const LowRank pair = *held;
  const int64_t begin = blockIdx.y * kBlockOutputs;
  if (begin >= pair.rows) return;
  const Cuts cuts(pair);
  const auto rank = static_cast<int32_t>(pair.rank);
  for (int32_t i = threadIdx.x; i < tile.count * rank; i += kThreads) {
    const float* const parts = row_of(shrunk, row_floats, tile.first + i / rank) + i % rank;
    float sum = 0;
    for (int64_t cut = 0; cut < cuts.count; ++cut) sum += parts[cut * cuts.width];
    whole[i / rank][i % rank] = sum * pair.scale;
  }
  sync_block();
  const int64_t output = begin + threadIdx.x * kOutputs;
  if (output >= pair.rows) return;
  const int64_t panel = output / kRankLanes * rank * kRankLanes + output % kRankLanes;
  float sums[kLowRankRows][kOutputs] = {};
  for (int32_t r = 0; r < rank; ++r) {
    float b[kOutputs];
    load_wide(pair.b, panel + r * kRankLanes, b);
#pragma unroll
    for (int j = 0; j < kLowRankRows; ++j) {
      if (j >= tile.count) continue;
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) sums[j][i] = fmaf(whole[j][r], b[i], sums[j][i]);
    }
  }
  float* const to = out + tile.first * out_stride + pair.first + output;
#pragma unroll
  for (int j = 0; j < kLowRankRows; ++j) {
    if (j >= tile.count) continue;
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      if (output + i < pair.rows) to[j * out_stride + i] += sums[j][i];
    }
  }
}

int64_t spread_of(int64_t max_rank) { return max_rank > kMinSpread ? kMaxAdapterRank : kMinSpread; }

}  // namespace

int64_t low_rank_floats(int64_t max_rank) { return max_rank == 0 ? 0 : kLowRankPairs * spread_of(max_rank); }

Launches add_low_rank(const LowRankStep& step, const float* x, int64_t cols, float* shrunk,
                      int64_t row_floats, float* out, int64_t out_stride) {
  const auto tiles = static_cast<uint32_t>(step.count);
  const auto pairs = static_cast<uint32_t>(step.pairs);
  const auto groups = static_cast<uint32_t>(row_floats / kLowRankPairs / kRankLanes);
  const auto outputs = static_cast<uint32_t>((step.outputs + kBlockOutputs - 1) / kBlockOutputs);
  return {make_launch("low_rank_shrink", shrink_kernel, {tiles, groups, pairs}, kThreads, 0, step.tiles,
                      step.place, x, cols, shrunk, row_floats),
          make_launch("low_rank_expand", expand_kernel, {tiles, outputs, pairs}, kThreads, 0, step.tiles,
                      step.place, shrunk, row_floats, out, out_stride)};
}

}  // namespace llmservice::gpu
