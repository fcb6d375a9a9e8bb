// Ops on the sequences of a step: attention and Gated DeltaNet.
#include <algorithm>
#include <bit>
#include <utility>

#include "backends/gpu/backend.h"
#include "backends/gpu/kernels/attention.h"
#include "backends/gpu/kernels/chunked_rows.h"
#include "backends/gpu/kernels/gdn.h"

namespace llmservice::gpu {
namespace {

int64_t rows_of(std::span<const Segment> segments) {
  int64_t rows = 0;
  for (const Segment& segment : segments) rows += segment.count;
  return rows;
}

// Of the step, up to the end of the last segment: rounds leave out what lies before and between theirs.
int64_t rows_until(std::span<const Segment> segments) {
  return int64_t{segments.back().first} + segments.back().count;
}

int32_t power_of_two(int32_t value) {
  return static_cast<int32_t>(std::bit_ceil(static_cast<uint32_t>(std::max(value, 1))));
}

}  // namespace

StepSegments GpuBackend::staged_segments(std::span<const Segment> segments, int32_t block_size) {
  int32_t most = 0;
  int32_t most_chunked = 0;
  int32_t most_others = 0;
  int32_t longest = kMinLongest;
  for (const Segment& segment : segments) {
    const int32_t chunked = order_ == TileOrder::kSwizzled ? chunked_rows(segment) : 0;
    most = std::max(most, segment.count);
    most_chunked = std::max(most_chunked, chunked);
    most_others = std::max(most_others, segment.count - chunked);
    longest = std::max(longest, segment.position + segment.count);
  }
  const Segment* place = arena_->put(segments, block_size);
  if (place == nullptr) {
    flush();
    place = arena_->put(segments, block_size);
  }
  if (place == nullptr)
    throw EngineError(FailureReason::kEngineFault, "The segments of a step are more than were planned.");
  return {.segments = place,
          .count = static_cast<int32_t>(segments.size()),
          .max_rows = power_of_two(most),
          .longest = power_of_two(longest),
          .max_chunked = most_chunked == 0 ? 0 : power_of_two(most_chunked),
          .max_rest = most_others == 0 ? 0 : power_of_two(most_others)};
}

void GpuBackend::norm_rope_write(const AttentionShape& shape, std::span<const Segment> segments,
                                 const NormRope& norm, float* q, float* k, const float* v, int64_t stride,
                                 const KvCache& cache) {
  const StepSegments step = staged_segments(segments, shape.block_size);
  add(gpu::norm_rope_write(shape, step, norm, q, k, v, stride, cache), rows_of(segments));
}

void GpuBackend::attention(const AttentionShape& shape, std::span<const Segment> segments, const float* q,
                           int64_t q_stride, const KvCache& cache, float* out, const ScoreRules& rules) {
  const StepSegments step = staged_segments(segments, shape.block_size);
  const int64_t rows = rows_of(segments);
  const int64_t floats = attention_workspace(shape, rows, step.longest);
  auto* const workspace =
      reinterpret_cast<float*>(memory_of(attention_, floats * static_cast<int64_t>(sizeof(float))));
  add(gpu::attention(shape, step, q, q_stride, cache, workspace, out, rules), rows);
  // A gate and a product take rows of the step from the first on; whether these are all, they know.
  if (segments.empty() || segments.front().first != 0 || rows_until(segments) != rows) return;
  const auto end = [=](const HeadGates& gates, const Activations* to) {
    return gpu::attention_end(shape, step, cache, workspace, out, rules, gates, to);
  };
  if (!end({}, nullptr)) return;
  const int64_t width = int64_t{shape.heads} * shape.head_dim;
  source_ = {out, rows, width, [end](const Activations& to, bool) { return *end({}, &to); }, {}};
  attended_ = {out, rows, width, end};
}

bool GpuBackend::gate_attention(const float* x, const HeadGates& gates, int64_t rows, int64_t width) {
  if (attended_.out != x || attended_.rows != rows || attended_.width != width) return false;
  const auto end = std::move(attended_.end);
  attended_ = {};
  list_.replace_last(*end(gates, nullptr));
  source_ = {x, rows, width, [end, gates](const Activations& to, bool) { return *end(gates, &to); }, {}};
  return true;
}

void GpuBackend::gdn_reset(const GdnShape& shape, std::span<const int32_t> slots, const GdnState& state) {
  if (slots.empty()) return;
  add(gpu::gdn_reset(shape, staged(slots), static_cast<int32_t>(slots.size()), state), 0);
  moved_.push_back(state.s);
}

void GpuBackend::gdn_copy(const GdnShape& shape, std::span<const StateCopy> copies, const GdnState& state) {
  if (copies.empty()) return;
  add(gpu::gdn_copy(shape, staged(copies), static_cast<int32_t>(copies.size()), state), 0);
  moved_.push_back(state.s);
}

void GpuBackend::gdn_conv(const GdnShape& shape, std::span<const Segment> segments, const float* weight,
                          float* qkv, int64_t stride, const GdnState& state) {
  if (segments.empty()) return;
  const StepSegments step = staged_segments(segments, 0);
  const int64_t rows = rows_until(segments);
  auto* const workspace = reinterpret_cast<float*>(
      memory_of(gdn_, gdn_conv_workspace(shape, rows) * static_cast<int64_t>(sizeof(float))));
  const Launches launches = gpu::gdn_conv(shape, step, rows, weight, qkv, stride, state, workspace);
  add(launches, rows);
  if (launches.size() == 1) convolved_ = {.x = qkv, .segments = step.segments, .weight = weight};
}

void GpuBackend::gdn(const GdnShape& shape, std::span<const Segment> segments, const float* qkv,
                     int64_t qkv_stride, const float* beta_in, const float* gate_in, int64_t gate_stride,
                     const float* a_log, const float* dt_bias, const GdnState& state, float* out,
                     const GdnNorm& norm) {
  if (segments.empty()) return;
  const StepSegments step = staged_segments(segments, 0);
  const int64_t rows = rows_until(segments);
  const bool settled = std::ranges::find(moved_, state.s) == moved_.end();
  moved_.push_back(state.s);
  const auto whole = [=, this, convolved = convolved_](const Activations* to) -> std::optional<Launch> {
    const int64_t readers = int64_t{step.count} * shape.k_heads * static_cast<int64_t>(sizeof(int32_t));
    if (convolved.x != qkv || convolved.segments != step.segments || products_.memory == nullptr ||
        readers > kCounterBytes) {
      return std::nullopt;
    }
    // Products leave their counters at zero, and so does this.
    auto* const counters = reinterpret_cast<int32_t*>(products_.memory->data());
    return gpu::gdn_step(shape, step, {convolved.weight, state.conv, counters, settled}, qkv, qkv_stride,
                         beta_in, gate_in, gate_stride, a_log, dt_bias, state, out, norm, to);
  };
  if (const std::optional<Launch> launch = whole(nullptr)) {
    list_.replace_last(*launch);
    convolved_ = {};
    // A product reads rows of the step from the first on; whether these are all that it reads, it knows.
    if (segments.front().first == 0 && rows_of(segments) == rows) {
      source_ = {out,
                 rows,
                 int64_t{shape.v_heads} * shape.v_dim,
                 [whole](const Activations& to, bool) { return *whole(&to); },
                 {}};
    }
    return;
  }
  auto* const workspace = reinterpret_cast<float*>(
      memory_of(gdn_, gdn_workspace(shape, rows) * static_cast<int64_t>(sizeof(float))));
  add(gpu::gdn(shape, step, rows, qkv, qkv_stride, beta_in, gate_in, gate_stride, a_log, dt_bias, state,
               workspace, out, norm),
      rows);
}

}  // namespace llmservice::gpu
