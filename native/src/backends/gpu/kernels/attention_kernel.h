// Attention of one tile of query rows of one KV head: the rows of a segment times the query heads that share
// it. Scores by matrix units from bf16 q (scaled by log2(e) beforehand) and k; weights 2^(score - the largest
// so far), rounded to bf16, times v; sums in float32. Within a split tiles come in order, and the sums over a
// split start from nothing: so a row's bits depend neither on the rows around it nor on the form of the
// launch. The direct form puts splits together as it goes, the other leaves them to combine_kernel.
// Decode is bound by the reading of KV, once per KV head and 16 (or 32) query rows; prefill by shared memory
// and matrix units alike.
#pragma once

#include "backends/gpu/kernels/attention_rules.h"
#include "backends/gpu/kernels/attention_splits.h"
#include "backends/gpu/kernels/attention_tile.h"
#include "backends/gpu/kernels/chunked_rows.h"
#include "backends/gpu/kernels/reduce.h"

namespace llmservice::gpu {

struct AttentionWork {
  AttentionShape shape;
  const Segment* segments;  // the first of this launch
  KvCache cache;
  DeviceRules rules;
  const float* q;
  int64_t q_stride;
  float* out;
  // (segments, max_rows, heads, splits): sums (head_dim), and behind all of them pairs of top and total.
  // Null where no row sees beyond the first split: then they go straight to `out`.
  float* partial = nullptr;
  float* tops = nullptr;
  int32_t splits;
  // Segments of at least `min_rows` and at most `max_rows` are this launch's.
  int32_t min_rows;
  int32_t max_rows;
  int32_t without_chunks = 0;  // 1: chunks are another launch's, and a segment is what is behind them

  __device__ __forceinline__ Segment segment(uint32_t at) const {
    return without_chunks != 0 ? behind_chunks(segments[at]) : segments[at];
  }
};

// Query row m of a KV head: head m % group of row m / group of the segment.
struct AttentionRows {
  int32_t group;
  int32_t begin;  // of the block
  int32_t end;
  int32_t position;     // of the segment
  int32_t segment_end;  // behind its last position
  __device__ __forceinline__ int32_t position_of(int32_t m) const { return position + m / group; }
};

template <class Plan>
struct AttentionShared {
  Operand keys[Plan::kUnits * Plan::kSteps * kWarpSize];
  Operand values[Plan::kOneBuffer ? 1 : Plan::kUnits * Plan::kSteps * kWarpSize];
  Operand queries[Plan::kRowGroups * (Plan::kSteps - Plan::kHeldSteps) * kWarpSize + 1];
  alignas(16) uint16_t weights[Plan::kRows][Plan::kTile + Plan::kPadding];
  float tops[Plan::kRowGroups][Plan::kScoreWarps][16];
  float totals[Plan::kRowGroups][Plan::kUnits][16];
  int32_t rows[2][Plan::kTile];  // of this tile's positions and the next one's, in runs of 16 features
  float key_scales[Plan::kTile];
  float value_scales[Plan::kTile];
  int32_t faulty[Plan::kTile];
};

// The sums of a warp's 16 rows and its features, and what else it knows of the rows.
template <class Plan>
struct AttentionSums {
  Accumulator at[Plan::kWarpGroups];
  float top[kResultRows];
  float part[Plan::kWarpUnits][kResultRows];  // of the total: this lane's columns of its units

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (Accumulator& group : at) group = {};
#pragma unroll
    for (int r = 0; r < kResultRows; ++r) {
      top[r] = -__builtin_huge_valf();
#pragma unroll
      for (auto& unit : part) unit[r] = 0;
    }
  }
};

struct Largest {
  __device__ __forceinline__ static float of(float a, float b) { return fmaxf(a, b); }
};

// The launch's block over positions [low, high) of the segment, tile by tile from the one that holds `low`.
template <class Plan>
class AttentionBlock {
 public:
  __device__ AttentionBlock(const AttentionWork& work, const Segment& segment, const AttentionRows& rows,
                            int32_t kv_head, int32_t low, int32_t high)
      : work_(work), segment_(segment), rows_(rows), kv_head_(kv_head), low_(low), high_(high) {}

  __device__ void run();

 private:
  // Positions that nobody sees stand for the nearest one that somebody does: their weight is zero.
  __device__ __forceinline__ int32_t cache_row(int32_t position) const {
    if (position < low_) position = low_;
    if (position >= high_) position = high_ - 1;
    const int32_t size = work_.shape.block_size;
    const int32_t block = segment_.blocks[position / size];
    return (block * work_.shape.kv_heads + kv_head_) * size + position % size;
  }
  __device__ __forceinline__ Operand& shared_query(int step) const {
    const int at = row_group_ * (Plan::kSteps - Plan::kHeldSteps) + step - Plan::kHeldSteps;
    return shared_.queries[at * kWarpSize + lane_id()];
  }
  __device__ __forceinline__ bool is_scorer() const { return column_warp_ < Plan::kScoreWarps; }
  __device__ __forceinline__ int unit(int u) const { return column_warp_ * Plan::kWarpUnits + u; }
  // Behind the last position that row m sees.
  __device__ __forceinline__ int32_t end_of(int32_t m) const {
    return work_.rules.visible_end(rows_.position_of(m), rows_.segment_end);
  }
  __device__ __forceinline__ void load_queries();
  __device__ __forceinline__ void take_scales(int32_t row);
  __device__ __forceinline__ void score(int32_t tile, bool ragged);
  __device__ __forceinline__ void weigh(bool ragged);
  __device__ __forceinline__ void add_values();
  __device__ __forceinline__ void add_tiles(int32_t tile, int32_t end);
  __device__ __forceinline__ void totals(float (&total)[kResultRows]);
  __device__ __forceinline__ void fold();
  __device__ __forceinline__ void finish();

  const AttentionWork& work_;
  const Segment& segment_;
  const AttentionRows& rows_;
  const int32_t kv_head_;
  const int32_t low_;
  const int32_t high_;
  const int row_group_ = warp_id() / Plan::kColumnWarps;
  const int column_warp_ = warp_id() % Plan::kColumnWarps;
  AttentionShared<Plan>& shared_ = *dynamic_shared<AttentionShared<Plan>>();
  Operand* const values_ = Plan::kOneBuffer ? shared_.keys : shared_.values;

  // Positions that every row of the block sees.
  const int32_t all_begin_ = first_visible(work_.shape, rows_.position_of(rows_.end - 1));
  const int32_t all_end_ = end_of(rows_.begin);

  KeyTile<Plan> keys_;  // the next tile's
  Operand queries_[Plan::kHeldSteps];
  Accumulator scores_[Plan::kWarpUnits];
  AttentionSums<Plan> sums_;
  Accumulator merged_[Plan::kDirect ? Plan::kWarpGroups : 1];
  Running running_[kResultRows];
  int turn_ = 0;          // of shared_.rows, the next tile's
  int32_t next_row_ = 0;  // of the tile behind the next one
  float key_scale_ = 0;   // of the next tile's position threadIdx.x
  float value_scale_ = 0;
};

}  // namespace llmservice::gpu

#include "backends/gpu/kernels/attention_block.h"
#include "backends/gpu/kernels/attention_result.h"
