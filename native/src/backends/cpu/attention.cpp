// Writing the paged KV cache, and cutting attention into tiles of one KV head and some rows of one segment.
#include <algorithm>
#include <vector>

#include "backends/cpu/backend.h"
#include "ops/kv_row.h"

namespace llmservice::cpu {
namespace {

struct RowRange {
  const Segment* segment;
  int32_t first;  // within the segment
  int32_t count;
};

// Each segment in runs of at most `rows` rows.
std::vector<RowRange> cut(std::span<const Segment> segments, int32_t rows) {
  std::vector<RowRange> ranges;
  for (const Segment& segment : segments) {
    for (int32_t first = 0; first < segment.count; first += rows) {
      ranges.push_back({&segment, first, std::min(rows, segment.count - first)});
    }
  }
  return ranges;
}

// Row `row` of a cache of rows of `dim` values.
void store_row(DType dtype, const float* from, int32_t dim, void* cache, float* scales, int64_t row) {
  if (dtype == DType::kF32) {
    std::copy_n(from, dim, static_cast<float*>(cache) + row * dim);
  } else if (dtype == DType::kF8E4M3) {
    scales[row] = quantize_kv_row(from, dim, static_cast<uint8_t*>(cache) + row * dim);
  } else {
    std::transform(from, from + dim, static_cast<uint16_t*>(cache) + row * dim, float_to_bf16);
  }
}

}  // namespace

int64_t attention_scratch(const AttentionShape& shape, int32_t rows) {
  const int64_t dim = (shape.head_dim + 15) / 16 * 16;
  const int64_t m = int64_t{rows} * (shape.heads / shape.kv_heads);
  return 3 * m * dim + dim * (kKeyStep + kSplit) + m * kSplit + 2 * (m + 16);
}

void CpuBackend::write_kv(const AttentionShape& shape, std::span<const Segment> segments, const float* k,
                          int64_t k_stride, const float* v, int64_t v_stride, const KvCache& cache) {
  const int32_t dim = shape.head_dim;
  for (const Segment& segment : segments) {
    for_rows(segment.count, 2 * shape.kv_heads * dim, [&](int64_t r) {
      const int32_t position = segment.position + static_cast<int32_t>(r);
      const int64_t block = segment.blocks[position / shape.block_size];
      for (int32_t h = 0; h < shape.kv_heads; ++h) {
        const int64_t row = (block * shape.kv_heads + h) * shape.block_size + position % shape.block_size;
        const float* const head_k = k + (segment.first + r) * k_stride + h * dim;
        const float* const head_v = v + (segment.first + r) * v_stride + h * dim;
        store_row(shape.kv_dtype, head_k, dim, cache.k, cache.k_scales, row);
        store_row(shape.kv_dtype, head_v, dim, cache.v, cache.v_scales, row);
      }
    });
  }
}

void CpuBackend::attention(const AttentionShape& shape, std::span<const Segment> segments, const float* q,
                           int64_t q_stride, const KvCache& cache, float* out) {
  const int32_t group = shape.heads / shape.kv_heads;
  if (group > kMaxAttentionRows) {
    throw EngineError("UnsupportedArchitecture", "Attention with " + std::to_string(group) +
                                                     " query heads per KV head is not supported: at most " +
                                                     std::to_string(kMaxAttentionRows) + ".");
  }
  const int32_t tile_rows = kMaxAttentionRows / group;
  const std::vector<RowRange> ranges = cut(segments, tile_rows);
  const int64_t width = int64_t{shape.heads} * shape.head_dim;
  pool_.run(static_cast<int64_t>(ranges.size()) * shape.kv_heads, [&](int64_t tile, int worker) {
    const RowRange& range = ranges[tile / shape.kv_heads];
    const auto kv_head = static_cast<int32_t>(tile % shape.kv_heads);
    const int64_t row = range.segment->first + range.first;
    const int64_t head = int64_t{kv_head} * group * shape.head_dim;
    kernels_.attend({.shape = &shape,
                     .blocks = range.segment->blocks,
                     .position = range.segment->position + range.first,
                     .rows = range.count,
                     .kv_head = kv_head,
                     .q = q + row * q_stride + head,
                     .q_stride = q_stride,
                     .cache = &cache,
                     .out = out + row * width + head,
                     .out_stride = width,
                     .scratch = scratch_.of_worker(worker, attention_scratch(shape, tile_rows))});
  });
}

}  // namespace llmservice::cpu
