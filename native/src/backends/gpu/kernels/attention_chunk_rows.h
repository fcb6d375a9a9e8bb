// What a consumer of attention_chunks.h does with the tiles that come.
#pragma once

#include "backends/gpu/kernels/attention_chunk_tiles.h"
#include "backends/gpu/kernels/reduce.h"

namespace llmservice::gpu {

// A warpgroup's 64 rows, of which a thread has two: those of a product's accumulators (wgmma.h).
class ChunkRows {
 public:
  __device__ ChunkRows(const AttentionWork& work, const Segment& segment, const AttentionRows& rows,
                       const ChunkView& view)
      : work_(work), segment_(segment), rows_(rows), view_(view) {}

  __device__ __forceinline__ void run() {
#pragma unroll
    for (float& sum : sums_) sum = 0;
    const int32_t count = view_.count();
    score(0);
    wait_wgmma(scores_);
    release(0, 0);
    weigh(0);
    take_weights();
#pragma unroll 1
    for (int32_t n = 1; n < count; ++n) {
      // The sums of one tile are worked out while the next one's scores become weights.
      score(n);
      add_values(n - 1);
      wait_earlier_wgmma(scores_);
      release(0, n);
      weigh(n);
      wait_wgmma(sums_);
      hold_operand(weights_);
      release(1, n - 1);
      scale_sums();
      take_weights();
    }
    add_values(count - 1);
    wait_wgmma(sums_);
    hold_operand(weights_);
    finish();
  }

 private:
  static constexpr int kScores = kChunkKeys / 2;  // of a thread
  static constexpr int kSums = kChunkDim / 2;

  // Which of the thread's rows, and which position of a tile or feature of a head.
  __device__ __forceinline__ static int row_of(int i) { return i / 2 % 2; }
  __device__ __forceinline__ static int column_of(int i) { return i / 4 * 8 + lane_id() % 4 * 2 + i % 2; }
  __device__ __forceinline__ int32_t row(int r) const {
    return rows_.begin + warp_id() * 16 + lane_id() / 4 + 8 * r;
  }

  __device__ __forceinline__ void score(int32_t n) {
    wait_phase(shared_.full(0, n), ChunkShared::phase(n));
    const std::byte* const queries = shared_.queries(warp_id() / 4);
    const std::byte* const keys = shared_.side(0, n);
    begin_wgmma(scores_);
#pragma unroll
    for (int tile = 0; tile < kChunkBytes; tile += kTileSize) {
#pragma unroll
      for (int byte = 0; byte < kTileBytes; byte += 32) {
        wgmma<DType::kBF16>(scores_, tile_descriptor(queries + tile, byte),
                            tile_descriptor(keys + tile, byte), tile + byte > 0);
      }
    }
    commit_wgmma();
  }

  __device__ __forceinline__ void add_values(int32_t n) {
    wait_phase(shared_.full(1, n), ChunkShared::phase(n));
    const std::byte* const values = shared_.side(1, n);
    hold_operand(weights_);  // written before, in the compiler's eyes too
    begin_wgmma(sums_);
#pragma unroll
    for (int unit = 0; unit < kChunkKeys / 16; ++unit) {
      wgmma_rows(sums_, weights_ + unit * 4, rows_descriptor(values + unit * 16 * kTileBytes, kTileSize));
    }
    commit_wgmma();
  }

  // Leaves what a row sees of a ragged tile; where that has a faulty value, no number.
  __device__ __forceinline__ void hide(int32_t n) {
    wait_phase(shared_.full(1, n), ChunkShared::phase(n));
    const int32_t* const faulty = shared_.faulty(n);
    const int32_t last[] = {rows_.position_of(row(0)), rows_.position_of(row(1))};
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
      const int32_t position = view_.position(n) + column_of(i);
      const bool is_seen = (position >= view_.low) & (position <= last[row_of(i)]);
      const float score = faulty[column_of(i)] == 0 ? scores_[i] : __builtin_nanf("");
      scores_[i] = is_seen ? score : -__builtin_huge_valf();
    }
  }

  // Turns scores into weights below the rows' new maxima.
  __device__ __forceinline__ void weigh(int32_t n) {
    if (view_.is_ragged(n)) hide(n);
    float shift[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float most = top_[r];
#pragma unroll
      for (int i = 0; i < kScores; ++i) most = row_of(i) == r ? fmaxf(most, scores_[i]) : most;
      most = reduce_warp<Largest, 4>(most);
      shift[r] = most == -__builtin_huge_valf() ? 0.0f : most;
      factor_[r] = fast_exp2(top_[r] - shift[r]);
      top_[r] = most;
      total_[r] *= factor_[r];
    }
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
      scores_[i] = fast_exp2(scores_[i] - shift[row_of(i)]);
      total_[row_of(i)] += scores_[i];
    }
  }

  // Most tiles bring no new maximum.
  __device__ __forceinline__ void scale_sums() {
    if (ballot(factor_[0] != 1.0f || factor_[1] != 1.0f) == 0) return;
#pragma unroll
    for (int i = 0; i < kSums; ++i) sums_[i] *= factor_[row_of(i)];
  }

  __device__ __forceinline__ void take_weights() {
#pragma unroll
    for (int i = 0; i < kScores / 2; ++i) weights_[i] = pack_bf16(scores_[2 * i], scores_[2 * i + 1]);
  }

  __device__ __forceinline__ void release(int side, int32_t n) const {
    sync_warp();
    if (lane_id() == 0) arrive(shared_.empty(side, n));
  }

  __device__ __forceinline__ void finish() {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float factor = 1.0f / reduce_warp<Sum, 4>(total_[r]);
      const int32_t m = row(r);
      if (m >= rows_.end) continue;
      const int64_t step_row = segment_.first + m / rows_.group;
      const int32_t head = view_.kv_head * rows_.group + m % rows_.group;
      float* const to = work_.out + (step_row * work_.shape.heads + head) * kChunkDim;
#pragma unroll
      for (int i = 2 * r; i < kSums; i += 4) {
        *reinterpret_cast<float2*>(to + column_of(i)) = {sums_[i] * factor, sums_[i + 1] * factor};
      }
    }
  }

  const AttentionWork& work_;
  const Segment& segment_;
  const AttentionRows& rows_;
  const ChunkView view_;
  const ChunkShared shared_;

  float sums_[kSums];
  float scores_[kScores];  // and then weights
  uint32_t weights_[kScores / 2];
  float top_[2] = {-__builtin_huge_valf(), -__builtin_huge_valf()};
  float total_[2] = {0, 0};  // of the weights in this thread's columns
  float factor_[2];
};

}  // namespace llmservice::gpu
