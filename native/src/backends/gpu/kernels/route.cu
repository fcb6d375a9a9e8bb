// Routing: a warp to a row, which holds all its logits in registers. Bound by the launch.
#include <cmath>

#include "backends/gpu/kernels/experts.h"
#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/kernels/reduce.h"

namespace llmservice::gpu {
namespace {

constexpr uint32_t kThreads = 128;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kEach = kMaxExperts / kWarpSize;

// Orders experts by logit, of equal ones the lower index above; what is no number comes first, so that its
// row shows it.
__device__ __forceinline__ uint64_t rank_of(float logit, int32_t expert) {
  const uint32_t bits = bits_of(logit + 0.0f);
  const bool number = (bits & 0x7fffffff) <= 0x7f800000;
  // Above all numbers, and with the lowest index below where the search begins.
  constexpr uint32_t kNone = 0xfffffffe;
  const uint32_t ordered = !number ? kNone : (bits >> 31) != 0 ? ~bits : bits | 0x80000000;
  return static_cast<uint64_t>(ordered) << 32 | ~static_cast<uint32_t>(expert);
}

// Of a row: expert i * kWarpSize + lane_id() is at[i].
using RowValues = float[kEach];

// The lane's, or another that comes before it in another lane.
__device__ __forceinline__ uint64_t best_of_warp(uint64_t best) {
#pragma unroll
  for (int mask = kWarpSize / 2; mask > 0; mask /= 2) {
    const uint64_t other = shuffle_xor(best, mask);
    best = other > best ? other : best;
  }
  return best;
}

// The best of those experts that `takes` and that come after `last`, as rank_of() has it; 0: there is none.
template <class Takes>
__device__ __forceinline__ uint64_t best_after(const RowValues& values, uint64_t last, const Takes& takes) {
  uint64_t best = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int32_t expert = i * kWarpSize + lane_id();
    const uint64_t rank = rank_of(values[i], expert);
    if (takes(expert) && rank < last && rank > best) best = rank;
  }
  return best_of_warp(best);
}

__device__ __forceinline__ int32_t expert_of(uint64_t rank) {
  return static_cast<int32_t>(~static_cast<uint32_t>(rank));
}

// Lane i gets the i-th best expert that `takes`, those from top_k on `none`.
template <class Takes>
__device__ __forceinline__ int32_t choose(const RowValues& values, int32_t top_k, int32_t none,
                                          const Takes& takes) {
  int32_t own = none;
  uint64_t last = ~uint64_t{0};
  for (int32_t chosen = 0; chosen < top_k; ++chosen) {
    last = best_after(values, last, takes);
    if (lane_id() == chosen) own = expert_of(last);
  }
  return own;
}

// Lane i's expert and its weight to their place among the row's, by index.
__device__ __forceinline__ void store_choice(const RoutingShape& shape, int64_t row, int32_t own,
                                             float weight, const Routing& routing) {
  int32_t place = 0;
  for (int32_t other = 0; other < shape.top_k; ++other) place += shuffle(own, other) < own ? 1 : 0;
  if (lane_id() >= shape.top_k) return;
  routing.ids[row * shape.top_k + place] = own;
  routing.weights[row * shape.top_k + place] = weight;
}

__global__ void __launch_bounds__(kThreads)
    route_kernel(RoutingShape shape, const float* logits, int64_t rows, Routing routing) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + warp_id();
  wait_for_previous();
  let_next_start();
  if (row >= rows) return;
  const float* const from = logits + row * shape.experts;
  RowValues values;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int32_t expert = i * kWarpSize + lane_id();
    values[i] = expert < shape.experts ? from[expert] : 0.0f;
  }
  const int32_t own =
      choose(values, shape.top_k, shape.experts, [&](int32_t expert) { return expert < shape.experts; });
  const float top = from[shuffle(own, 0)];
  const float weight = lane_id() < shape.top_k ? expf(from[own] - top) : 0.0f;
  float total = weight;
  if (!shape.normalize) {
    total = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (i * kWarpSize + lane_id() < shape.experts) total += expf(values[i] - top);
    }
  }
  total = reduce_warp<Sum>(total);
  store_choice(shape, row, own, weight / total, routing);
}

__device__ __forceinline__ float exact_sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

// sums[g]: of the two best scores of group g. Whole groups of `size` experts each.
__device__ __forceinline__ void sum_groups(const RowValues& scores, int32_t groups, int32_t size,
                                           float* sums) {
  for (int32_t group = 0; group < groups; ++group) {
    const auto inside = [&](int32_t expert) { return expert / size == group; };
    const uint64_t first = best_after(scores, ~uint64_t{0}, inside);
    const uint64_t second = best_after(scores, first, inside);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int32_t expert = i * kWarpSize + lane_id();
      if (expert == expert_of(first) || expert == expert_of(second)) sum += scores[i];
    }
    sum = reduce_warp<Sum>(sum);
    if (lane_id() == 0) sums[group] = sum;
  }
}

// The weight of an expert is its sigmoid; it is chosen by that and its correction.
__global__ void __launch_bounds__(kThreads)
    route_by_sigmoid_kernel(RoutingShape shape, SigmoidRouting rule, const float* correction,
                            const float* logits, int64_t rows, Routing routing) {
  __shared__ float group_sums[kWarps][kMaxExperts / 2];
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + warp_id();
  wait_for_previous();
  let_next_start();
  if (row >= rows) return;
  const float* const from = logits + row * shape.experts;
  RowValues scores;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int32_t expert = i * kWarpSize + lane_id();
    scores[i] = expert < shape.experts ? exact_sigmoid(from[expert]) + correction[expert] : 0.0f;
  }
  const bool all = rule.chosen_groups == rule.groups;
  const int32_t size = shape.experts / rule.groups;
  const float* const sums = group_sums[warp_id()];
  if (!all) {
    sum_groups(scores, rule.groups, size, group_sums[warp_id()]);
    sync_warp();
  }
  // Bit i: of the lane's i-th expert.
  uint32_t open = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int32_t expert = i * kWarpSize + lane_id();
    if (expert >= shape.experts) continue;
    const int32_t group = expert / size;
    int32_t better = 0;
    for (int32_t other = 0; !all && other < rule.groups; ++other) {
      better += rank_of(sums[other], other) > rank_of(sums[group], group) ? 1 : 0;
    }
    if (all || better < rule.chosen_groups) open |= 1u << i;
  }
  const int32_t own = choose(scores, shape.top_k, shape.experts,
                             [&](int32_t expert) { return (open >> expert / kWarpSize & 1) != 0; });
  const float weight = lane_id() < shape.top_k ? exact_sigmoid(from[own]) : 0.0f;
  const float total = shape.normalize ? reduce_warp<Sum>(weight) + 1e-20f : 1.0f;
  store_choice(shape, row, own, weight / total * rule.scale, routing);
}

Grid rows_of_warps(int64_t rows) { return {static_cast<uint32_t>((rows + kWarps - 1) / kWarps)}; }

}  // namespace

Launch route(const RoutingShape& shape, const float* logits, int64_t rows, const Routing& routing) {
  return make_launch("route", route_kernel, rows_of_warps(rows), kThreads, 0, shape, logits, rows, routing);
}

Launch route_by_sigmoid(const RoutingShape& shape, const SigmoidRouting& rule, const float* correction,
                        const float* logits, int64_t rows, const Routing& routing) {
  return make_launch("route_by_sigmoid", route_by_sigmoid_kernel, rows_of_warps(rows), kThreads, 0, shape,
                     rule, correction, logits, rows, routing);
}

}  // namespace llmservice::gpu
