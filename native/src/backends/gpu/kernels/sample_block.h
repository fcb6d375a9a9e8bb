// What the kernels of sampling do together as a block: reductions in a fixed order, and the search for the
// place where a running sum of integers reaches what is wanted.
#pragma once

#include "backends/gpu/kernels/draw_math.h"
#include "backends/gpu/kernels/reduce.h"

namespace llmservice::gpu {

// The same for every thread of the block, which has whole warps and calls it together.
template <class T, class Op>
__device__ __forceinline__ T reduce_threads(T value, Op op) {
  __shared__ T partial[kMaxWarps];
#pragma unroll
  for (int mask = kWarpSize / 2; mask > 0; mask /= 2) value = op(value, shuffle_xor(value, mask));
  sync_block();  // `partial` may still be read, from the reduction before
  if (lane_id() == 0) partial[warp_id()] = value;
  sync_block();
  const int warps = static_cast<int>(blockDim.x) / kWarpSize;
  T total = partial[0];
  for (int i = 1; i < warps; ++i) total = op(total, partial[i]);
  return total;
}

struct Larger {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};
struct Smaller {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct Either {
  __device__ __forceinline__ uint32_t operator()(uint32_t a, uint32_t b) const { return a | b; }
};
struct Plus {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};

struct Crossing {
  uint32_t bin;
  uint64_t before;  // sum of the bins before it
};

// The first of the block's bins, kEach to a thread in order, where their running sum reaches `wanted`, which
// is at least 1 and at most their sum.
template <int kEach>
__device__ __forceinline__ Crossing find_crossing(const uint64_t (&bins)[kEach], uint64_t wanted) {
  __shared__ uint64_t warp_sums[kMaxWarps];
  __shared__ Crossing found;
  uint64_t mine = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) mine += bins[i];
  uint64_t upto = mine;
#pragma unroll
  for (int step = 1; step < kWarpSize; step *= 2) {
    const int from = lane_id() >= step ? lane_id() - step : lane_id();
    const uint64_t below = shuffle(upto, from);
    upto += lane_id() >= step ? below : 0;
  }
  sync_block();  // what the search before found may still be read
  if (lane_id() == kWarpSize - 1) warp_sums[warp_id()] = upto;
  if (threadIdx.x == 0) found = {0, 0};
  sync_block();
  uint64_t before = upto - mine;
  for (int i = 0; i < warp_id(); ++i) before += warp_sums[i];
  if (before < wanted && wanted <= before + mine) {
    uint32_t bin = threadIdx.x * kEach;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (before < wanted && wanted <= before + bins[i]) found = {bin + i, before};
      before += bins[i];
    }
  }
  sync_block();
  return found;
}

// Adds a block's candidates up by one digit of their order.
template <int kBins>
struct DigitSums {
  uint64_t sum[kBins];
  uint32_t count[kBins];

  __device__ __forceinline__ void clear() {
    for (uint32_t i = threadIdx.x; i < kBins; i += blockDim.x) {
      sum[i] = 0;
      count[i] = 0;
    }
  }
  // All lanes call it. Equal tokens crowd into one digit: a warp that agrees adds once.
  __device__ __forceinline__ void add(bool takes_part, uint32_t digit, uint64_t measure) {
    const uint64_t part = ballot(takes_part);
    if (part == 0) return;
    const int first = first_lane(part);
    const uint32_t leading = shuffle(digit, first);
    if (takes_part) add_to(&count[digit], 1u);
    if (ballot(takes_part && digit == leading) != part) {
      if (takes_part) add_to(&sum[digit], measure);
      return;
    }
    uint64_t total = takes_part ? measure : 0;
#pragma unroll
    for (int mask = kWarpSize / 2; mask > 0; mask /= 2) total += shuffle_xor(total, mask);
    if (lane_id() == first) add_to(&sum[digit], total);
  }
};

struct Ordered {
  uint64_t order;  // kNoOrder: left out
  uint64_t measure;
};
constexpr uint64_t kNoOrder = ~uint64_t{0};

constexpr int kDigitBits = 11;
using Digits = DigitSums<1 << kDigitBits>;

// The order of the last candidate (or one before the next) of the fewest, by ascending order, whose measures
// reach `wanted`: at least 1, at most their sum. Digit after digit, from above, over those that share the
// digits so far; ends as soon as these say which candidate it is. `kThreads` is the block's.
template <int kThreads, class At>
__device__ __forceinline__ uint64_t last_kept(int32_t count, const At& at, uint64_t wanted, Digits& digits) {
  constexpr int kEach = (1 << kDigitBits) / kThreads;
  uint64_t above = 0;
  int above_shift = kOrderBits;
  while (true) {
    const int shift = above_shift > kDigitBits ? above_shift - kDigitBits : 0;
    const uint32_t digit_mask = (1u << (above_shift - shift)) - 1;
    sync_block();
    digits.clear();
    sync_block();
    for (int32_t base = 0; base < count; base += kThreads) {
      const int32_t i = base + static_cast<int32_t>(threadIdx.x);
      const Ordered one = i < count ? at(i) : Ordered{kNoOrder, 0};
      const bool takes_part = one.order != kNoOrder && one.order >> above_shift == above;
      digits.add(takes_part, static_cast<uint32_t>(one.order >> shift) & digit_mask, one.measure);
    }
    sync_block();
    uint64_t sums[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) sums[i] = digits.sum[threadIdx.x * kEach + i];
    const Crossing crossing = find_crossing(sums, wanted);
    wanted -= crossing.before;
    above = above << (above_shift - shift) | crossing.bin;
    if (shift == 0 || digits.count[crossing.bin] == 1) return ((above + 1) << shift) - 1;
    above_shift = shift;
  }
}

}  // namespace llmservice::gpu
