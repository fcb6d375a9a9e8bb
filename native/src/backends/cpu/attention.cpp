// Bringing q, k and v to attention, and cutting attention into tiles of one KV head and some rows of one
// segment; where there are few of them beside the threads, into single splits of those.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/backend.h"
#include "backends/cpu/key_pairs.h"
#include "ops/kv_row.h"

namespace llmservice::cpu {
namespace {

// What a cosine and a sine cost, in values of a cheap op.
constexpr int64_t kAngleFloats = 32;

// With fewer splits a tile ends sooner than threads could meet to merge them.
constexpr int64_t kFewestSplits = 4;
// A tile is divided that takes longer than the time of all threads over this.
constexpr int64_t kTilesPerThread = 4;
// Splits that are computed before they are merged, for each thread: what bounds the memory of a long context.
constexpr int64_t kSplitsPerThread = 16;

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

// How tiles are cut depends on the threads; their bits do not.
AttentionTiles divide(std::vector<AttentionTile> tiles, int64_t threads) {
  if (threads == 1) return {.whole = std::move(tiles)};
  int64_t total = 0;
  for (const AttentionTile& t : tiles) total += split_count(t);
  AttentionTiles cut;
  for (const AttentionTile& t : tiles) {
    const int64_t splits = split_count(t);
    if (splits < kFewestSplits || splits * threads * kTilesPerThread <= total) {
      cut.whole.push_back(t);
      continue;
    }
    cut.divided.push_back(t);
    cut.splits = std::max(cut.splits, splits);
    cut.pairs = std::max<int64_t>(cut.pairs, t.rows * query_heads(t));
  }
  return cut;
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

int64_t attention_scratch(const AttentionTile& tile) {
  const int64_t dim = padded_dim(*tile.shape);
  const int64_t m = int64_t{tile.rows} * query_heads(tile);
  return m * dim + dim * (kKeyStep + kSplit) + m * kSplit + 2 * SplitSums::floats(m, dim);
}

// Each angle is rounded to float before its cosine is taken, as the reference implementations do.
void CpuBackend::rope_angles(std::span<const int32_t> positions, const float* frequencies, int64_t count,
                             float factor, float* cos, float* sin) {
  for_rows(static_cast<int64_t>(positions.size()), count * kAngleFloats, [&](int64_t t) {
    for (int64_t i = 0; i < count; ++i) {
      const float angle = static_cast<float>(positions[t]) * frequencies[i];
      cos[t * count + i] = std::cos(angle) * factor;
      sin[t * count + i] = std::sin(angle) * factor;
    }
  });
}

void CpuBackend::norm_rope_write(const AttentionShape& shape, std::span<const Segment> segments,
                                 const NormRope& norm, float* q, float* k, const float* v, int64_t stride,
                                 const KvCache& cache) {
  const int32_t dim = shape.head_dim;
  const int64_t half = norm.rotary / 2;
  const auto norm_and_rotate = [&](const float* weight, int64_t row, float* head) {
    if (weight != nullptr) kernels_.rms_norm(head, weight, norm.eps, dim, head);
    kernels_.rotate(head, half, norm.cos + row * half, norm.sin + row * half);
  };
  const std::vector<RowRange> rows = cut(segments, 1);
  const int64_t heads = shape.heads + shape.kv_heads;
  const bool are_key_pairs = kernels_.multiply_pairs != nullptr && keeps_key_pairs(shape);
  float* const values =
      norm.v_norm == nullptr ? nullptr : scratch_.shared(rows.size() * shape.kv_heads * dim);
  for_rows(static_cast<int64_t>(rows.size()) * heads, dim, [&](int64_t i) {
    const RowRange& range = rows[i / heads];
    const int64_t row = range.segment->first + range.first;
    const auto h = static_cast<int32_t>(i % heads) - shape.heads;
    if (h < 0) return norm_and_rotate(norm.q_norm, row, q + row * stride + (h + shape.heads) * dim);
    const int32_t position = range.segment->position + range.first;
    const int64_t block = range.segment->blocks[position / shape.block_size];
    const int64_t at = (block * shape.kv_heads + h) * shape.block_size + position % shape.block_size;
    float* const head = k + row * stride + h * dim;
    // Values first: they may be the keys, before these are normed.
    const float* value = v + row * stride + h * dim;
    if (norm.v_norm != nullptr) {
      float* const normed = values + (i / heads * shape.kv_heads + h) * dim;
      kernels_.rms_norm(value, norm.v_norm, norm.eps, dim, normed);
      value = normed;
    }
    store_row(shape.kv_dtype, value, dim, cache.v, cache.v_scales, at);
    norm_and_rotate(norm.k_norm, row, head);
    if (are_key_pairs) return store_key_pairs(head, dim, cache.k, at);
    store_row(shape.kv_dtype, head, dim, cache.k, cache.k_scales, at);
  });
}

void CpuBackend::attention(const AttentionShape& shape, std::span<const Segment> segments, const float* q,
                           int64_t q_stride, const KvCache& cache, float* out, const ScoreRules& rules) {
  const int32_t group = shape.heads / shape.kv_heads;
  if (group > kMaxAttentionRows) {
    throw EngineError(FailureReason::kUnsupportedArchitecture,
                      "Attention with " + std::to_string(group) +
                          " query heads per KV head is not supported: at most " +
                          std::to_string(kMaxAttentionRows) + ".");
  }
  int64_t rows = 0;
  for (const Segment& segment : segments) rows += segment.count;
  // Where products take pairs, laying a split out costs so much beside them that twice the rows share it,
  // unless threads would lack tiles.
  const bool are_pairs = shape.kv_dtype == DType::kBF16 && kernels_.multiply_pairs != nullptr;
  const int64_t tiles_at_most = rows * shape.heads / kMaxAttentionRows;
  const bool are_wide = are_pairs && tiles_at_most >= pool_.threads() * kTilesPerThread;
  const int32_t tile_rows = std::max(1, (are_wide ? kMaxAttentionRows : kMaxAttentionRows / 2) / group);
  // Memory gives what adjoins faster, and all KV heads of a block do.
  const int64_t all_heads = are_pairs && group <= kFewPairs ? shape.kv_heads : 1;
  const auto heads_together = static_cast<int32_t>(
      std::clamp<int64_t>(rows * shape.kv_heads / (pool_.threads() * kTilesPerThread), 1, all_heads));
  const int64_t width = int64_t{shape.heads} * shape.head_dim;
  std::vector<AttentionTile> tiles;
  for (const RowRange& range : cut(segments, tile_rows)) {
    const int32_t together = range.count == 1 ? heads_together : 1;
    for (int32_t kv_head = 0; kv_head < shape.kv_heads; kv_head += together) {
      const int64_t row = range.segment->first + range.first;
      const int64_t head = int64_t{kv_head} * group * shape.head_dim;
      tiles.push_back({.shape = &shape,
                       .blocks = range.segment->blocks,
                       .position = range.segment->position + range.first,
                       .rows = range.count,
                       .kv_head = kv_head,
                       .kv_heads = std::min(together, shape.kv_heads - kv_head),
                       .q = q + row * q_stride + head,
                       .q_stride = q_stride,
                       .cache = &cache,
                       .out = out + row * width + head,
                       .out_stride = width,
                       .scratch = nullptr,
                       .cap = rules.cap,
                       .sinks = rules.sinks == nullptr ? nullptr : rules.sinks + kv_head * group,
                       .end = rules.causal ? 0 : range.segment->position + range.segment->count});
    }
  }
  attend(shape, divide(std::move(tiles), pool_.threads()));
}

void CpuBackend::attend(const AttentionShape& shape, const AttentionTiles& tiles) {
  const auto with_scratch = [&](AttentionTile tile, int worker) {
    tile.scratch = scratch_.of_worker(worker, attention_scratch(tile));
    return tile;
  };
  const auto whole = static_cast<int64_t>(tiles.whole.size());
  const auto divided = static_cast<int64_t>(tiles.divided.size());
  const int64_t dim = padded_dim(shape);
  const int64_t floats = SplitSums::floats(tiles.pairs, dim);
  // Of each divided tile in one round.
  const int64_t splits =
      divided == 0 ? 0 : std::min(tiles.splits, (kSplitsPerThread * pool_.threads() + divided - 1) / divided);
  float* const sums = scratch_.shared(divided * (splits + 1) * floats);
  const auto part_of = [&](int64_t i, int64_t first) {
    const AttentionTile& tile = tiles.divided[i];
    float* const own = sums + i * (splits + 1) * floats;
    const int64_t count = std::clamp<int64_t>(split_count(tile) - first, 0, splits);
    return ComputedSplits{.begin = first_split(shape, tile.position) + static_cast<int32_t>(first) * kSplit,
                          .count = static_cast<int32_t>(count),
                          .sums = own + floats,
                          .merged = own};
  };
  int64_t first = 0;
  do {
    // Whole tiles come first: splits fill what time they leave.
    const int64_t before = first == 0 ? whole : 0;
    const auto compute = [&](int64_t i, int worker) {
      if (i < before) return kernels_.attend(with_scratch(tiles.whole[i], worker));
      const AttentionTile& tile = tiles.divided[(i - before) / splits];
      const ComputedSplits part = part_of((i - before) / splits, first);
      const int64_t split = (i - before) % splits;
      if (split >= part.count) return;
      const int64_t pairs = int64_t{tile.rows} * query_heads(tile);
      kernels_.attend_split(with_scratch(tile, worker), part.begin + static_cast<int32_t>(split) * kSplit,
                            {part.sums + split * SplitSums::floats(pairs, dim), pairs, dim});
    };
    if (before > 0) {
      pool_.run_in_order(before + divided * splits, compute);
    } else {
      pool_.run(divided * splits, compute);
    }
    pool_.run(divided, [&](int64_t i, int) {
      const ComputedSplits part = part_of(i, first);
      if (part.count > 0) kernels_.merge_splits(tiles.divided[i], part);
    });
    first += splits;
  } while (first < tiles.splits);
}

}  // namespace llmservice::cpu
