#include "backends/gpu/kernels/attention.h"
#include "backends/gpu/kernels/attention_chunk_rows.h"
#include "backends/gpu/kernels/attention_chunks.h"
#include "backends/gpu/kernels/chunked_rows.h"

namespace llmservice::gpu {
namespace {

// q, scaled and rounded to bf16, as tiles of rows; those of no row are zero.
[[maybe_unused]] __device__ void store_queries(const AttentionWork& work, const Segment& segment,
                                               const AttentionRows& rows, int32_t kv_head,
                                               const ChunkShared& shared) {
  constexpr int kEights = kChunkDim / 8;
  const float scale = work.shape.scale * kLog2E;
  for (int at = static_cast<int>(threadIdx.x); at < kChunkRows * kEights;
       at += static_cast<int>(blockDim.x)) {
    const int row = at / kEights;
    const int eight = at % kEights;
    const int32_t m = rows.begin + row;
    Words<4> q[2] = {};
    if (m < rows.end) {
      const int32_t head = kv_head * rows.group + m % rows.group;
      const auto* const from = reinterpret_cast<const Words<4>*>(
          work.q + (segment.first + m / rows.group) * work.q_stride + int64_t{head} * kChunkDim + eight * 8);
      q[0] = from[0];
      q[1] = from[1];
    }
    Words<4> packed;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint32_t* const two = q[i / 2].at + i % 2 * 2;
      packed.at[i] = pack_bf16(float_of(two[0]) * scale, float_of(two[1]) * scale);
    }
    std::byte* const tile = shared.queries(row / kTileRows) + eight / 8 * kTileSize;
    *reinterpret_cast<Words<4>*>(tile + swizzled_offset(row % kTileRows, eight % 8 * 16)) = packed;
  }
}

// Grid: row tiles, those that see most first; KV heads; segments.
__global__ void __launch_bounds__(kChunkWarps* kWarpSize, 1) chunks_kernel(const AttentionWork work) {
  if constexpr (kRunsWgmma) {
    let_next_start();
    wait_for_previous();
    const Segment segment = work.segments[blockIdx.z];
    AttentionRows rows;
    rows.group = work.shape.heads / work.shape.kv_heads;
    rows.position = segment.position;
    rows.segment_end = segment.position + segment.count;
    const int32_t count = chunked_rows(segment) * rows.group;
    rows.begin = static_cast<int32_t>(gridDim.x - 1 - blockIdx.x) * kChunkRows;
    if (rows.begin >= count) return;
    rows.end = smaller(rows.begin + kChunkRows, count);
    const ChunkView view{.kv_head = static_cast<int32_t>(blockIdx.y),
                         .low = work.shape.first,
                         .high = rows.position_of(rows.end - 1) + 1,
                         .all_end = rows.position_of(rows.begin) + 1};
    const ChunkShared shared;
    if (threadIdx.x == 0) {
      for (int side = 0; side < 2; ++side) {
        for (int stage = 0; stage < kChunkStages; ++stage) {
          init_barrier(shared.full(side, stage), kChunkAnnouncers);
          init_barrier(shared.empty(side, stage), kChunkConsumers);
        }
      }
      publish_barriers();
    }
    store_queries(work, segment, rows, view.kv_head, shared);
    publish_to_products();
    sync_block();
    if (warp_id() >= kChunkConsumers) {
      give_registers<40>();
      ChunkLoader(work, segment, view).run();
    } else {
      take_registers<232>();
      ChunkRows(work, segment, rows, view).run();
    }
  }
}

}  // namespace

bool attends_chunks(const AttentionShape& shape, const ScoreRules& rules) {
  return shape.head_dim == kChunkDim && shape.kv_dtype == DType::kBF16 && shape.window == 0 && rules.causal &&
         rules.cap == 0 && rules.sinks == nullptr;
}

Launch attend_chunks(const AttentionWork& work, const StepSegments& step) {
  const int32_t rows = step.max_chunked * (work.shape.heads / work.shape.kv_heads);
  const Grid grid{static_cast<uint32_t>(divide_up(rows, kChunkRows)),
                  static_cast<uint32_t>(work.shape.kv_heads), static_cast<uint32_t>(step.count)};
  return make_launch("attention_chunks", chunks_kernel, grid, kChunkWarps * kWarpSize, ChunkShared::kBytes,
                     work);
}

}  // namespace llmservice::gpu
