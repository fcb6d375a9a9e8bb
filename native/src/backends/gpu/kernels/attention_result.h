// What becomes of a split's sums (attention_kernel.h): folded into those of the splits before, or written
// out.
#pragma once

#include "backends/gpu/kernels/attention_kernel.h"

namespace llmservice::gpu {

// Writes each of the warp's sums, times its row's factor.
template <class Plan>
__device__ __forceinline__ void store_rows(const Accumulator (&sums)[Plan::kWarpGroups], int32_t head_dim,
                                           const float (&factor)[kResultRows],
                                           float* const (&to)[kResultRows]) {
  constexpr int kVector = Plan::kWarpGroups < 4 ? Plan::kWarpGroups : 4;
  const int first = warp_id() % Plan::kColumnWarps * Plan::kWarpGroups;
#pragma unroll
  for (int r = 0; r < kResultRows; ++r) {
    if (to[r] == nullptr) continue;
#pragma unroll
    for (int c = 0; c < kResultColumns; ++c) {
#pragma unroll
      for (int g = 0; g < Plan::kWarpGroups; g += kVector) {
        const int feature = feature_of<Plan>(first + g, result_column(c));
        if (feature >= head_dim) continue;
        Words<kVector> words;
#pragma unroll
        for (int k = 0; k < kVector; ++k) words.at[k] = bits_of(sums[g + k].at[r][c] * factor[r]);
        *reinterpret_cast<Words<kVector>*>(to[r] + feature) = words;
      }
    }
  }
}

// Of this split: Σ over lanes, then over units in order, whichever warps hold them.
template <class Plan>
__device__ __forceinline__ void AttentionBlock<Plan>::totals(float (&total)[kResultRows]) {
#pragma unroll
  for (int r = 0; r < kResultRows; ++r) {
#pragma unroll
    for (int u = 0; u < Plan::kWarpUnits; ++u) {
      if (!is_scorer()) continue;
      const float part = reduce_warp<Sum, kRowLanes>(sums_.part[u][r]);
      if (lane_id() % kRowLanes == 0) shared_.totals[row_group_][unit(u)][result_row(r)] = part;
    }
  }
  sync_block();
#pragma unroll
  for (int r = 0; r < kResultRows; ++r) {
    total[r] = 0;
#pragma unroll
    for (int u = 0; u < Plan::kUnits; ++u) total[r] += shared_.totals[row_group_][u][result_row(r)];
  }
}

template <class Plan>
__device__ __forceinline__ void AttentionBlock<Plan>::fold() {
  float total[kResultRows];
  totals(total);
#pragma unroll
  for (int r = 0; r < kResultRows; ++r) {
    const Fold fold(running_[r], sums_.top[r], total[r]);
#pragma unroll
    for (int g = 0; g < Plan::kWarpGroups; ++g) {
#pragma unroll
      for (int c = 0; c < kResultColumns; ++c) {
        merged_[g].at[r][c] = fold(merged_[g].at[r][c], sums_.at[g].at[r][c]);
      }
    }
  }
  sums_.clear();
}

template <class Plan>
__device__ __forceinline__ void AttentionBlock<Plan>::finish() {
  const AttentionShape& shape = work_.shape;
  float total[kResultRows];
  float factor[kResultRows];
  float* to[kResultRows];
  if constexpr (!Plan::kDirect) totals(total);
#pragma unroll
  for (int r = 0; r < kResultRows; ++r) {
    const int32_t m = rows_.begin + row_group_ * 16 + result_row(r);
    const int32_t row = m / rows_.group;
    const int32_t head = kv_head_ * rows_.group + m % rows_.group;
    to[r] = m < rows_.end ? work_.out + (int64_t{segment_.first + row} * shape.heads + head) * shape.head_dim
                          : nullptr;
    if constexpr (Plan::kDirect) {
      factor[r] = 1.0f / work_.rules.with_sink(running_[r].total, running_[r].top, head);
    } else {
      factor[r] = 1.0f / work_.rules.with_sink(total[r], sums_.top[r], head);
      if (work_.partial == nullptr || m >= rows_.end) continue;
      const int64_t slot = int64_t{blockIdx.z} * work_.max_rows + row;
      const int64_t at = (slot * shape.heads + head) * work_.splits + split_of(low_);
      to[r] = work_.partial + at * shape.head_dim;
      factor[r] = 1.0f;
      if (column_warp_ > 0 || lane_id() % kRowLanes != 0) continue;
      work_.tops[2 * at] = sums_.top[r];
      work_.tops[2 * at + 1] = total[r];
    }
  }
  if constexpr (Plan::kDirect) {
    store_rows<Plan>(merged_, shape.head_dim, factor, to);
  } else {
    store_rows<Plan>(sums_.at, shape.head_dim, factor, to);
  }
}

}  // namespace llmservice::gpu
