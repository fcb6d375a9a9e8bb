// How a block of attention goes about its tiles (attention_kernel.h).
#pragma once

#include "backends/gpu/kernels/attention_kernel.h"

namespace llmservice::gpu {

// q, scaled and rounded to bf16. What goes to shared memory may be read after the next barrier.
template <class Plan>
__device__ __forceinline__ void AttentionBlock<Plan>::load_queries() {
  const AttentionShape& shape = work_.shape;
  const float scale = shape.scale * kLog2E;
  const float* from[kLines];
#pragma unroll
  for (int i = 0; i < kLines; ++i) {
    const int32_t m = rows_.begin + row_group_ * 16 + operand_line(i);
    const int32_t head = kv_head_ * rows_.group + m % rows_.group;
    const float* const row = work_.q + (segment_.first + m / rows_.group) * work_.q_stride;
    from[i] = m < rows_.end ? row + int64_t{head} * shape.head_dim : nullptr;
  }
#pragma unroll
  for (int step = 0; step < Plan::kSteps; ++step) {
    const int feature = step / 4 * 64 + quarter() * 16 + step % 4 * 4;
    Operand query;
#pragma unroll
    for (int i = 0; i < kLines; ++i) {
      Words<4> q = {};
      if (from[i] != nullptr && feature < shape.head_dim) {
        q = *reinterpret_cast<const Words<4>*>(from[i] + feature);
      }
      query.line[i] = {pack_bf16(float_of(q.at[0]) * scale, float_of(q.at[1]) * scale),
                       pack_bf16(float_of(q.at[2]) * scale, float_of(q.at[3]) * scale)};
    }
    if (step < Plan::kHeldSteps) {
      queries_[step] = query;
    } else if (column_warp_ == 0) {
      shared_query(step) = query;
    }
  }
}

template <class Plan>
__device__ __forceinline__ void AttentionBlock<Plan>::take_scales(int32_t row) {
  if constexpr (!Plan::kScaled) return;
  key_scale_ = work_.cache.k_scales[row];
  value_scale_ = work_.cache.v_scales[row];
}

// Scores of the warp's rows and units, and the rows' largest for the other warps.
template <class Plan>
__device__ __forceinline__ void AttentionBlock<Plan>::score(int32_t tile, bool ragged) {
  if (!is_scorer()) return;
#pragma unroll
  for (Accumulator& scores : scores_) scores = {};
#pragma unroll
  for (int step = 0; step < Plan::kSteps; ++step) {
    const Operand& query = step < Plan::kHeldSteps ? queries_[step] : shared_query(step);
#pragma unroll
    for (int u = 0; u < Plan::kWarpUnits; ++u) {
      multiply(query, shared_.keys[(unit(u) * Plan::kSteps + step) * kWarpSize + lane_id()], scores_[u]);
    }
  }
  if constexpr (Plan::kScaled) {
#pragma unroll
    for (int u = 0; u < Plan::kWarpUnits; ++u) {
#pragma unroll
      for (int c = 0; c < kResultColumns; ++c) {
        const float scale = shared_.key_scales[unit(u) * 16 + result_column(c)];
#pragma unroll
        for (int r = 0; r < kResultRows; ++r) {
          scores_[u].at[r][c] = separate_product(scores_[u].at[r][c], scale);
        }
      }
    }
  }
  if (work_.rules.cap > 0) {
#pragma unroll
    for (Accumulator& scores : scores_) {
#pragma unroll
      for (int r = 0; r < kResultRows; ++r) {
#pragma unroll
        for (int c = 0; c < kResultColumns; ++c) scores.at[r][c] = work_.rules.capped(scores.at[r][c]);
      }
    }
  }
  if (ragged) {
#pragma unroll
    for (int r = 0; r < kResultRows; ++r) {
      const int32_t m = rows_.begin + row_group_ * 16 + result_row(r);
      const int32_t first = first_visible(work_.shape, rows_.position_of(m));
      const int32_t end = end_of(m);
#pragma unroll
      for (int u = 0; u < Plan::kWarpUnits; ++u) {
#pragma unroll
        for (int c = 0; c < kResultColumns; ++c) {
          const int32_t position = tile + unit(u) * 16 + result_column(c);
          if (position < first || position >= end) scores_[u].at[r][c] = -__builtin_huge_valf();
        }
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kResultRows; ++r) {
    float most = scores_[0].at[r][0];
#pragma unroll
    for (int u = 0; u < Plan::kWarpUnits; ++u) {
#pragma unroll
      for (int c = 0; c < kResultColumns; ++c) most = fmaxf(most, scores_[u].at[r][c]);
    }
    most = reduce_warp<Largest, kRowLanes>(most);
    if (lane_id() % kRowLanes == 0) shared_.tops[row_group_][column_warp_][result_row(r)] = most;
  }
}

// Turns scores into weights, and brings the sums so far down to the new maxima.
template <class Plan>
__device__ __forceinline__ void AttentionBlock<Plan>::weigh(bool ragged) {
#pragma unroll
  for (int r = 0; r < kResultRows; ++r) {
    float top = sums_.top[r];
#pragma unroll
    for (int w = 0; w < Plan::kScoreWarps; ++w) top = fmaxf(top, shared_.tops[row_group_][w][result_row(r)]);
    const float shift = top == -__builtin_huge_valf() ? 0.0f : top;
    const float factor = fast_exp2(sums_.top[r] - shift);
    sums_.top[r] = top;
#pragma unroll
    for (Accumulator& group : sums_.at) {
#pragma unroll
      for (int c = 0; c < kResultColumns; ++c) group.at[r][c] *= factor;
    }
    if (!is_scorer()) continue;
#pragma unroll
    for (int u = 0; u < Plan::kWarpUnits; ++u) {
      float weight[kResultColumns];
      float total = 0;
#pragma unroll
      for (int c = 0; c < kResultColumns; ++c) {
        const int at = unit(u) * 16 + result_column(c);
        const float score = scores_[u].at[r][c];
        const bool hidden = score == -__builtin_huge_valf();
        weight[c] = fast_exp2(score - shift);
        if constexpr (!Plan::kScaled) {
          if (ragged && !hidden && shared_.faulty[at] != 0) weight[c] = __builtin_nanf("");
        }
        total += weight[c];
        if constexpr (Plan::kScaled) weight[c] = hidden ? 0.0f : weight[c] * shared_.value_scales[at];
      }
      sums_.part[u][r] = fmaf(sums_.part[u][r], factor, total);
      uint16_t* const to = shared_.weights[row_group_ * 16 + result_row(r)] + unit(u) * 16;
      if constexpr (kResultColumns == 1) {
        to[result_column(0)] = float_to_bf16(weight[0]);
      } else {
#pragma unroll
        for (int c = 0; c < kResultColumns; c += 2) {
          *reinterpret_cast<uint32_t*>(to + result_column(c)) = pack_bf16(weight[c], weight[c + 1]);
        }
      }
    }
  }
}

template <class Plan>
__device__ __forceinline__ void AttentionBlock<Plan>::add_values() {
#pragma unroll
  for (int u = 0; u < Plan::kUnits; ++u) {
    Operand weights;
#pragma unroll
    for (int i = 0; i < kLines; ++i) {
      const uint16_t* const from =
          shared_.weights[row_group_ * 16 + operand_line(i)] + u * 16 + quarter() * 4;
      weights.line[i] = *reinterpret_cast<const Quad*>(from);
    }
#pragma unroll
    for (int g = 0; g < Plan::kWarpGroups; ++g) {
      const int group = u * Plan::kSteps + column_warp_ * Plan::kWarpGroups + g;
      multiply(weights, values_[group * kWarpSize + lane_id()], sums_.at[g]);
    }
  }
}

// The tiles of [tile, end), of which `keys_` holds the first one's.
template <class Plan>
__device__ __forceinline__ void AttentionBlock<Plan>::add_tiles(int32_t tile, int32_t end) {
  constexpr int kTile = Plan::kTile;
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll 1
  for (; tile < end; tile += kTile) {
    const bool ragged = tile < all_begin_ || tile + kTile > all_end_;
    keys_.store(shared_.keys);
    if (thread < kTile) {
      shared_.key_scales[thread] = key_scale_;
      shared_.value_scales[thread] = value_scale_;
      shared_.faulty[thread] = 0;
    }
    ValueTile<Plan> values;
    values.load(work_.cache.v, shared_.rows[turn_], work_.shape.head_dim);
    turn_ ^= 1;
    sync_block();
    if (thread < kTile) {
      shared_.rows[turn_][thread] = next_row_ * (work_.shape.head_dim / 16);
      take_scales(next_row_);
      next_row_ = cache_row(tile + 2 * kTile + thread);
    }
    score(tile, ragged);
    if constexpr (!Plan::kScaled) {
      if (ragged) values.hide_faults(shared_.faulty);
    }
    sync_block();
    values.store(values_);
    if (tile + kTile < high_) keys_.load(work_.cache.k, shared_.rows[turn_], work_.shape.head_dim);
    weigh(ragged);
    sync_block();
    add_values();
    if constexpr (Plan::kOneBuffer) sync_block();
  }
}

template <class Plan>
__device__ void AttentionBlock<Plan>::run() {
  constexpr int kTile = Plan::kTile;
  const int thread = static_cast<int>(threadIdx.x);
  const int32_t begin = low_ / kTile * kTile;
  if (thread < kTile) {
    const int32_t row = cache_row(begin + thread);
    shared_.rows[0][thread] = row * (work_.shape.head_dim / 16);
    take_scales(row);
    next_row_ = cache_row(begin + kTile + thread);
  }
  sync_block();
  keys_.load(work_.cache.k, shared_.rows[0], work_.shape.head_dim);
  load_queries();
  sums_.clear();
  if constexpr (!Plan::kDirect) {
    add_tiles(begin, high_);
  } else {
#pragma unroll
    for (Accumulator& group : merged_) group = {};
    // Tiles are a loop within that of splits: registers hold what they need, and not what fold() does.
    int32_t split = split_of(begin);
#pragma unroll 1
    for (int32_t tile = begin; tile < high_; tile = split_begin(++split)) {
      add_tiles(tile, smaller(high_, split_begin(split + 1)));
      fold();
    }
  }
  finish();
}

}  // namespace llmservice::gpu
