// Routing: a warp to a row, which holds all its logits in registers. Bound by the launch.
#include <cmath>

#include "backends/gpu/kernels/experts.h"
#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/kernels/reduce.h"

namespace llmservice::gpu {
namespace {

constexpr uint32_t kThreads = 128;
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

__global__ void __launch_bounds__(kThreads)
    route_kernel(RoutingShape shape, const float* logits, int64_t rows, Routing routing) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * (kThreads / kWarpSize) + warp_id();
  wait_for_previous();
  let_next_start();
  if (row >= rows) return;
  const float* const from = logits + row * shape.experts;
  float values[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int32_t expert = i * kWarpSize + lane_id();
    values[i] = expert < shape.experts ? from[expert] : 0.0f;
  }
  int32_t own = shape.experts;  // lane i: the i-th chosen
  uint64_t last = ~uint64_t{0};
  for (int32_t chosen = 0; chosen < shape.top_k; ++chosen) {
    uint64_t best = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int32_t expert = i * kWarpSize + lane_id();
      const uint64_t rank = rank_of(values[i], expert);
      if (expert < shape.experts && rank < last && rank > best) best = rank;
    }
#pragma unroll
    for (int mask = kWarpSize / 2; mask > 0; mask /= 2) {
      const uint64_t other = shuffle_xor(best, mask);
      best = other > best ? other : best;
    }
    last = best;
    if (lane_id() == chosen) own = static_cast<int32_t>(~static_cast<uint32_t>(best));
  }
  const bool holds = lane_id() < shape.top_k;
  const float top = from[shuffle(own, 0)];
  const float weight = holds ? expf(from[own] - top) : 0.0f;
  float total = weight;
  if (!shape.normalize) {
    total = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (i * kWarpSize + lane_id() < shape.experts) total += expf(values[i] - top);
    }
  }
  total = reduce_warp<Sum>(total);
  int32_t place = 0;  // among the row's, by index
  for (int32_t other = 0; other < shape.top_k; ++other) place += shuffle(own, other) < own ? 1 : 0;
  if (!holds) return;
  routing.ids[row * shape.top_k + place] = own;
  routing.weights[row * shape.top_k + place] = weight / total;
}

}  // namespace

Launch route(const RoutingShape& shape, const float* logits, int64_t rows, const Routing& routing) {
  constexpr int64_t kRows = kThreads / kWarpSize;
  return make_launch("route", route_kernel, {static_cast<uint32_t>((rows + kRows - 1) / kRows)}, kThreads, 0,
                     shape, logits, rows, routing);
}

}  // namespace llmservice::gpu
