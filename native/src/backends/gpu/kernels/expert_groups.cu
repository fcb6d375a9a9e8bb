#include "backends/gpu/kernels/expert_groups.h"
#include "backends/gpu/kernels/reduce.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {
namespace {

constexpr int32_t kThreads = 256;

// A counting sort, one block to an expert: each counts all pairs by itself, so that none waits for another,
// and then lists its own in order.
__global__ void __launch_bounds__(kThreads) group_kernel(int32_t experts, int32_t top_k, const int32_t* ids,
                                                         int32_t pairs, int32_t most, ExpertGroups out) {
  __shared__ uint32_t counts[kMaxExperts];
  __shared__ int32_t before_warp[kMaxWarps];
  const auto expert = static_cast<int32_t>(blockIdx.x);
  const auto thread = static_cast<int32_t>(threadIdx.x);
  for (int32_t i = thread; i < experts; i += kThreads) counts[i] = 0;
  wait_for_previous();
  let_next_start();
  sync_block();
  for (int32_t i = thread; i < pairs; i += kThreads) add_to(&counts[ids[i]], 1u);
  sync_block();
  int32_t first = 0;
  int32_t group = 0;
  int32_t groups = 0;
  for (int32_t i = 0; i < experts; ++i) {
    const auto count = static_cast<int32_t>(counts[i]);
    groups += count > 0 ? 1 : 0;
    if (i >= expert) continue;
    first += count;
    group += count > 0 ? 1 : 0;
  }
  const auto count = static_cast<int32_t>(counts[expert]);
  if (expert == 0) {
    for (int32_t i = groups + thread; i < most; i += kThreads) out.groups[i] = {0, 0, 0};
  }
  if (count == 0) return;
  if (thread == 0) out.groups[group] = {expert, first, count};
  int32_t place = first;
  for (int32_t base = 0; base < pairs && place < first + count; base += kThreads) {
    const int32_t pair = base + thread;
    const bool own = pair < pairs && ids[pair] == expert;
    const uint64_t lanes = ballot(own);
    sync_block();  // the round before may still be read
    if (lane_id() == 0) before_warp[warp_id()] = count_lanes(lanes);
    sync_block();
    int32_t before = 0;
    int32_t all = 0;
    for (int i = 0; i < kThreads / kWarpSize; ++i) {
      before += i < warp_id() ? before_warp[i] : 0;
      all += before_warp[i];
    }
    if (own) {
      const int32_t at = place + before + count_lanes(lanes & ((uint64_t{1} << lane_id()) - 1));
      out.rows[at] = pair / top_k;
      out.places[pair] = at;
      if (out.experts != nullptr) out.experts[at] = expert;
    }
    place += all;
  }
}

__global__ void __launch_bounds__(kThreads)
    combine_kernel(int32_t top_k, ExpertGroups groups, Routing routing, const float* y, const float* bias,
                   int64_t rows, int64_t width, float* out) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  wait_for_previous();
  let_next_start();
  if (i >= rows * width) return;
  const int64_t pair = i / width * top_k;
  float sum = 0;
#pragma unroll 4
  for (int32_t k = 0; k < top_k; ++k) {
    float value = y[groups.places[pair + k] * width + i % width];
    if (bias != nullptr) value += bias[routing.ids[pair + k] * width + i % width];
    sum += routing.weights[pair + k] * value;
  }
  out[i] = sum;
}

}  // namespace

int32_t max_groups(const RoutingShape& shape, int64_t rows) {
  const int64_t pairs = rows * shape.top_k;
  return static_cast<int32_t>(pairs < shape.experts ? pairs : shape.experts);
}

Launch group_pairs(const RoutingShape& shape, const int32_t* ids, int64_t rows, const ExpertGroups& out) {
  return make_launch("group_pairs", group_kernel, {static_cast<uint32_t>(shape.experts)}, kThreads, 0,
                     shape.experts, shape.top_k, ids, static_cast<int32_t>(rows * shape.top_k),
                     max_groups(shape, rows), out);
}

Launch combine(const RoutingShape& shape, const ExpertGroups& groups, const Routing& routing, const float* y,
               const float* bias, int64_t rows, int64_t width, float* out) {
  const auto blocks = static_cast<uint32_t>((rows * width + kThreads - 1) / kThreads);
  return make_launch("combine_experts", combine_kernel, {blocks}, kThreads, 0, shape.top_k, groups, routing,
                     y, bias, rows, width, out);
}

}  // namespace llmservice::gpu
