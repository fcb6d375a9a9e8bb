// Gated delta rule, one position at a time:
//   S <- e^g S;  Δ = β (v - Sᵀk);  S <- S + k Δᵀ;  o = Sᵀq
// Bound by memory: S (128, 128) is read once and written once, 64 KiB each, whatever the number of rows. A
// block holds 128 columns of a head's S in registers, eight rows by four columns to a thread, so that one
// head of each sequence keeps an SM busy with 64 KiB of independent 16-byte loads. Sᵀk and Sᵀq come from the
// same pass over S before it moves, since o = e^g Sᵀq + (k·q) Δ: one barrier for each position.
#pragma once

#include "backends/gpu/kernels/gdn_kernels.h"
#include "backends/gpu/kernels/reduce.h"
#include "backends/gpu/kernels/vectors.h"

namespace llmservice::gpu::recurrent {

constexpr int kColumns = 128;    // of a block
constexpr int kRun = 8;          // rows of S that a thread holds, next to each other
constexpr int kColumnLanes = 8;  // of a warp; 4 columns each
constexpr int kRowLanes = kWarpSize / kColumnLanes;
constexpr int kRowWarps = kGdnDepth / (kRowLanes * kRun);
constexpr int kColumnWarps = kColumns / (kColumnLanes * 4);
constexpr int kWarps = kRowWarps * kColumnWarps;
constexpr int kThreads = kWarps * kWarpSize;
constexpr int kBatch = 8;  // positions whose inputs and outputs lie in shared memory at once

struct Shared {
  float q[kBatch][kGdnDepth];
  float k[kBatch][kGdnDepth];
  float v[kBatch][kColumns];
  float out[kBatch][kColumns];
  float sums[2][kRowWarps][2][kColumns];  // of Sᵀk and Sᵀq, of every other position
  float decay[kBatch];
  float beta[kBatch];
  float qk[kBatch];
};

// Where a thread's part of S begins.
struct Place {
  int row_warp = warp_id() / kColumnWarps;
  int row_lane = lane_id() / kColumnLanes;
  int row = (row_warp * kRowLanes + row_lane) * kRun;
  int column = (warp_id() % kColumnWarps * kColumnLanes + lane_id() % kColumnLanes) * 4;
};

// q and k of a position, normalized; they may lie where they go. One warp.
__device__ __forceinline__ void norm_keys(const GdnArguments& a, const float* q_from, const float* k_from,
                                          int slot, Shared& shared) {
  constexpr int kEach = kGdnDepth / kWarpSize;
  float q[kEach];
  float k[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int d = lane_id() + i * kWarpSize;
    q[i] = d < a.k_dim ? q_from[d] : 0.0f;
    k[i] = d < a.k_dim ? k_from[d] : 0.0f;
  }
  float qq = 0;
  float kk = 0;
  float qk = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    qq = fmaf(q[i], q[i], qq);
    kk = fmaf(k[i], k[i], kk);
    qk = fmaf(q[i], k[i], qk);
  }
  const float q_scale =
      1.0f / (sqrtf(reduce_warp<Sum>(qq) + kGdnNormEps) * sqrtf(static_cast<float>(a.k_dim)));
  const float k_scale = 1.0f / sqrtf(reduce_warp<Sum>(kk) + kGdnNormEps);
  qk = reduce_warp<Sum>(qk);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int d = lane_id() + i * kWarpSize;
    shared.q[slot][d] = q[i] * q_scale;
    shared.k[slot][d] = k[i] * k_scale;
  }
  if (lane_id() == 0) shared.qk[slot] = qk * q_scale * k_scale;
}

__device__ __forceinline__ void load_gates(const GdnArguments& a, int64_t row, int v_head, int slot,
                                           Shared& shared) {
  shared.decay[slot] = expf(a.log_decay_of(row, v_head));
  shared.beta[slot] = a.beta_of(row, v_head);
}

// Moves S over a position; `parity` of the position picks the sums that nobody reads any more.
__device__ __forceinline__ void step(const Place& at, int slot, int parity, Shared& shared,
                                     float (&s)[kRun][4]) {
  float sums[8] = {};  // Sᵀk of four columns, Sᵀq of four columns
#pragma unroll
  for (int half = 0; half < kRun; half += 4) {
    const Float4 k4 = load_floats<4>(&shared.k[slot][at.row + half]);
    const Float4 q4 = load_floats<4>(&shared.q[slot][at.row + half]);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        sums[c] = fmaf(k4.v[i], s[half + i][c], sums[c]);
        sums[4 + c] = fmaf(q4.v[i], s[half + i][c], sums[4 + c]);
      }
    }
  }
  // Each halving of the lanes that hold other rows leaves a lane half of the values to add up.
  int left = 8;
#pragma unroll
  for (int mask = kWarpSize / 2; mask >= kColumnLanes; mask /= 2) {
    left /= 2;
    const bool is_upper = (lane_id() & mask) != 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i >= left) break;
      const float kept = is_upper ? sums[left + i] : sums[i];
      const float given = is_upper ? sums[i] : sums[left + i];
      sums[i] = kept + shuffle_xor(given, mask);
    }
  }
  constexpr int kLeft = 8 / kRowLanes;
#pragma unroll
  for (int i = 0; i < kLeft; ++i) {
    const int value = at.row_lane * kLeft + i;
    shared.sums[parity][at.row_warp][value / 4][at.column + value % 4] = sums[i];
  }
  sync_block();
  const float decay = shared.decay[slot];
  const float beta = shared.beta[slot];
  const Float4 v = load_floats<4>(&shared.v[slot][at.column]);
  const auto total = [&](int which) {
    Float4 sum = load_floats<4>(&shared.sums[parity][0][which][at.column]);
#pragma unroll
    for (int w = 1; w < kRowWarps; ++w) {
      const Float4 more = load_floats<4>(&shared.sums[parity][w][which][at.column]);
#pragma unroll
      for (int c = 0; c < 4; ++c) sum.v[c] += more.v[c];
    }
    return sum;
  };
  const Float4 read = total(0);
  float delta[4];
#pragma unroll
  for (int c = 0; c < 4; ++c) delta[c] = beta * fmaf(-decay, read.v[c], v.v[c]);
#pragma unroll
  for (int half = 0; half < kRun; half += 4) {
    const Float4 k4 = load_floats<4>(&shared.k[slot][at.row + half]);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int c = 0; c < 4; ++c) s[half + i][c] = fmaf(k4.v[i], delta[c], decay * s[half + i][c]);
    }
  }
  if (at.row_warp == 0 && at.row_lane == 0) {
    const Float4 passed = total(1);
    Float4 out;
#pragma unroll
    for (int c = 0; c < 4; ++c) out.v[c] = fmaf(shared.qk[slot], delta[c], decay * passed.v[c]);
    store_floats(&shared.out[slot][at.column], out);
  }
}

template <bool kWhole, class Move>
__device__ __forceinline__ void each_vector(const GdnArguments& a, const Place& at, int first_column,
                                            const Move& move) {
#pragma unroll
  for (int i = 0; i < kRun; ++i) {
    const int column = first_column + at.column;
    const int64_t there = kWhole ? 4 : at.row + i < a.k_dim ? a.v_dim - column : 0;
    move(i, int64_t{at.row + i} * a.v_dim + column, there);
  }
}

// The rows of a segment behind its chunks, for one head and kColumns of its columns. load(first, rows) brings
// q, k, v and gates of the rows `first` and following of the segment into shared memory, and waits for no
// other warp behind that; write(row, slot) takes the output of one, a warp each. `settled`: nothing that may
// still run writes S.
template <bool kWhole, class Load, class Write>
__device__ __forceinline__ void run_rows(const GdnArguments& a, const Segment& segment, int32_t chunked,
                                         int v_head, int first_column, bool settled, Shared& shared,
                                         const Load& load, const Write& write) {
  const int32_t kept = segment.count - segment.drafts;
  const Place at;
  float* const state = a.s_of(segment, v_head);
  if (!settled) wait_for_previous();
  float s[kRun][4] = {};
  if (chunked < segment.count) {
    each_vector<kWhole>(a, at, first_column, [&](int i, int64_t from, int64_t there) {
      const Float4 row = kWhole ? load_floats<4>(state + from) : load_some<4>(state + from, there);
#pragma unroll
      for (int c = 0; c < 4; ++c) s[i][c] = row.v[c];
    });
  }
  if (settled) wait_for_previous();
  let_next_start();
  const auto keep = [&] {
    each_vector<kWhole>(a, at, first_column, [&](int i, int64_t to, int64_t there) {
      Float4 row;
#pragma unroll
      for (int c = 0; c < 4; ++c) row.v[c] = s[i][c];
      kWhole ? store_floats(state + to, row) : store_some(state + to, there, row);
    });
  };
#pragma unroll 1
  for (int32_t first = chunked; first < segment.count; first += kBatch) {
    const int32_t rows = segment.count - first < kBatch ? segment.count - first : kBatch;
    load(first, rows);
    sync_block();
#pragma unroll 1
    for (int i = 0; i < rows; ++i) {
      if (first + i == kept && kept > chunked) keep();  // what follows are drafts
      step(at, i, i % 2, shared, s);
    }
    sync_block();
    for (int i = warp_id(); i < rows; i += kWarps) write(int64_t{segment.first} + first + i, i);
  }
  if (segment.drafts == 0 && kept > chunked) keep();
}

}  // namespace llmservice::gpu::recurrent
