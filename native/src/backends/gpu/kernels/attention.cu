#include <algorithm>

#include "backends/gpu/kernels/attention.h"
#include "backends/gpu/kernels/attention_chunks.h"
#include "backends/gpu/kernels/attention_combine.h"

namespace llmservice::gpu {
namespace {

// Segments of up to this many rows are split over blocks; longer ones have blocks enough without.
constexpr int32_t kSplitRows = 8;
// Of a block: what the smallest of NVIDIA's has (sm_89), and all of AMD's.
constexpr size_t kMaxSharedBytes = (kWarpSize == 64 ? 64 : 99) << 10;
// Of workspace; where a step wants more, its segments take turns.
constexpr int64_t kMaxFloats = int64_t{64} << 20;

// Split form: grid (row tiles of each split, the longest splits first; KV heads; segments). Direct form: grid
// (row tiles, those that see most first; KV heads; segments).
template <class Plan>
__global__ void __launch_bounds__(Plan::kThreads, Plan::kResident) attention_kernel(AttentionWork work) {
  let_next_start();
  wait_for_previous();
  const Segment segment = work.segment(blockIdx.z);
  if (segment.count < work.min_rows || segment.count > work.max_rows) return;
  AttentionRows rows;
  rows.group = work.shape.heads / work.shape.kv_heads;
  rows.position = segment.position;
  rows.segment_end = segment.position + segment.count;
  const auto x = static_cast<int32_t>(blockIdx.x);
  const auto count = static_cast<int32_t>(gridDim.x);
  const int32_t tiles = Plan::kDirect ? count : count / work.splits;
  const int32_t tile = Plan::kDirect ? count - 1 - x : x % tiles;
  rows.begin = tile * Plan::kRows;
  if (rows.begin >= segment.count * rows.group) return;
  rows.end = smaller(rows.begin + Plan::kRows, segment.count * rows.group);
  int32_t low = first_visible(work.shape, rows.position_of(rows.begin));
  int32_t high = work.rules.visible_end(rows.position_of(rows.end - 1), rows.segment_end);
  if constexpr (!Plan::kDirect) {
    const int32_t split = work.splits - 1 - x / tiles;
    low = -smaller(-low, -split_begin(split));
    high = smaller(high, split_begin(split + 1));
    if (low >= high) return;
  }
  AttentionBlock<Plan>(work, segment, rows, static_cast<int32_t>(blockIdx.y), low, high).run();
}

template <class Plan>
Launch launch(const AttentionWork& work, Grid grid) {
  static_assert(sizeof(AttentionShared<Plan>) <= kMaxSharedBytes);
  return make_launch(Plan::kDirect ? "attention" : "attention_splits", attention_kernel<Plan>, grid,
                     Plan::kThreads, sizeof(AttentionShared<Plan>), work);
}

template <int dim, class Element>
Launch launch_for(const AttentionWork& work, bool direct, int32_t rows, int32_t segments) {
  const auto tiles = [&](int32_t size) { return static_cast<uint32_t>((rows + size - 1) / size); };
  const auto splits = static_cast<uint32_t>(work.splits);
  constexpr bool wide = dim > 256;
  Grid grid{1, static_cast<uint32_t>(work.shape.kv_heads), static_cast<uint32_t>(segments)};
  if (direct) {
    constexpr int row_groups = wide ? 2 : 4;
    grid.x = tiles(row_groups * 16);
    return launch<AttentionPlan<dim, Element, row_groups, wide ? 4 : 2, true>>(work, grid);
  }
  if (rows <= 16) {
    grid.x = splits;
    return launch<AttentionPlan<dim, Element, 1, wide ? 8 : 4, false>>(work, grid);
  }
  grid.x = tiles(32) * splits;
  return launch<AttentionPlan<dim, Element, 2, 4, false>>(work, grid);
}

template <class Element>
Launch launch_for(const AttentionWork& work, bool direct, int32_t rows, int32_t segments) {
  if (work.shape.head_dim <= 64) return launch_for<64, Element>(work, direct, rows, segments);
  if (work.shape.head_dim <= 128) return launch_for<128, Element>(work, direct, rows, segments);
  if (work.shape.head_dim <= 256) return launch_for<256, Element>(work, direct, rows, segments);
  return launch_for<512, Element>(work, direct, rows, segments);
}

// `rows`: query rows of a KV head in one segment.
Launch launch_for(const AttentionWork& work, bool direct, int32_t rows, int32_t segments) {
  return work.shape.kv_dtype == DType::kF8E4M3 ? launch_for<uint8_t>(work, direct, rows, segments)
                                               : launch_for<uint16_t>(work, direct, rows, segments);
}

int32_t split_count(int32_t longest) { return split_of(longest - 1) + 1; }

// Of one row's splits.
int64_t row_floats(const AttentionShape& shape, int32_t longest) {
  return int64_t{shape.heads} * split_count(longest) * (shape.head_dim + 2);
}

// Rows that have room at once, whole segments of them.
int64_t rows_at_once(const AttentionShape& shape, int64_t rows, int32_t longest) {
  return std::clamp(kMaxFloats / row_floats(shape, longest), int64_t{kSplitRows},
                    std::max(rows, int64_t{kSplitRows}));
}

}  // namespace

int64_t attention_workspace(const AttentionShape& shape, int64_t rows, int32_t longest) {
  if (split_count(longest) == 1) return 0;
  const int64_t each = row_floats(shape, longest);
  return std::clamp(kMaxFloats, kSplitRows * each, std::max(rows, int64_t{1}) * kSplitRows * each);
}

namespace {

// Of the segments of up to kSplitRows rows; how many of them have room in `workspace` at once.
struct SplitWork {
  AttentionWork work;
  int32_t at_once;
};

SplitWork split_work(const AttentionShape& shape, const StepSegments& step, int32_t max_rows,
                     const KvCache& cache, float* workspace, float* out, const ScoreRules& rules) {
  const int32_t few = std::min(max_rows, kSplitRows);
  AttentionWork work{.shape = shape,
                     .segments = step.segments,
                     .cache = cache,
                     .rules = DeviceRules(rules, shape.window),
                     .q = nullptr,
                     .q_stride = 0,
                     .out = out,
                     .splits = split_count(step.longest),
                     .min_rows = 1,
                     .max_rows = few};
  if (work.splits == 1) return {work, step.count};
  const int64_t rows = rows_at_once(shape, int64_t{step.count} * kSplitRows, step.longest);
  work.partial = workspace;
  work.tops = workspace + rows * shape.heads * work.splits * shape.head_dim;
  return {work, std::min(step.count, static_cast<int32_t>(rows / few))};
}

}  // namespace

Launches attention(const AttentionShape& shape, const StepSegments& step, const float* q, int64_t q_stride,
                   const KvCache& cache, float* workspace, float* out, const ScoreRules& rules) {
  const int32_t group = shape.heads / shape.kv_heads;
  const bool has_chunks = step.max_chunked > 0 && attends_chunks(shape, rules);
  const int32_t max_rows = has_chunks ? step.max_rest : step.max_rows;
  auto [work, at_once] = split_work(shape, step, std::max(max_rows, 1), cache, workspace, out, rules);
  work.q = q;
  work.q_stride = q_stride;
  work.without_chunks = has_chunks ? 1 : 0;
  Launches launches;
  if (has_chunks) launches.push_back(attend_chunks(work, step));
  if (max_rows == 0) return launches;
  for (int32_t first = 0; first < step.count; first += at_once) {
    const int32_t segments = std::min(at_once, step.count - first);
    work.segments = step.segments + first;
    launches.push_back(launch_for(work, false, work.max_rows * group, segments));
    if (work.splits > 1) launches.push_back(combine_splits(work, segments, {}, nullptr));
  }
  if (max_rows > kSplitRows) {
    work.segments = step.segments;
    work.min_rows = kSplitRows + 1;
    work.max_rows = max_rows;
    launches.push_back(launch_for(work, true, max_rows * group, step.count));
  }
  return launches;
}

std::optional<Launch> attention_end(const AttentionShape& shape, const StepSegments& step,
                                    const KvCache& cache, float* workspace, float* out,
                                    const ScoreRules& rules, const HeadGates& gates, const Activations* to) {
  if (step.max_rows > kSplitRows) return std::nullopt;
  const auto [work, at_once] = split_work(shape, step, step.max_rows, cache, workspace, out, rules);
  if (work.splits == 1 || at_once < step.count) return std::nullopt;
  return combine_splits(work, step.count, gates, to);
}

}  // namespace llmservice::gpu
