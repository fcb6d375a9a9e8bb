// Gated DeltaNet: normalizes q and k and works out the gates once per row, then runs each segment's chunked
// and recurrent parts, cut by V head and columns of S.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/backend.h"

namespace llmservice::cpu {
namespace {

int64_t channels_of(const GdnShape& s) {
  return 2 * int64_t{s.k_heads} * s.k_dim + int64_t{s.v_heads} * s.v_dim;
}

// log(1 + e^x) without overflow.
float softplus(float x) { return x > 20.0f ? x : std::log1p(std::exp(x)); }

// Rows of the segment below chunked_until; whole chunks by the caller's promise.
int32_t chunked_rows(const Segment& segment) {
  return std::clamp(segment.chunked_until - segment.position, 0, segment.count);
}

// Rows of the step up to the last that a segment has.
int64_t rows_of(std::span<const Segment> segments) {
  int64_t rows = 0;
  for (const Segment& s : segments) rows = std::max<int64_t>(rows, s.first + s.count);
  return rows;
}

}  // namespace

int64_t gram_scratch(int32_t k_dim) { return int64_t{k_dim} * kChunk; }

int64_t delta_scratch(int32_t k_dim) { return 2 * int64_t{k_dim} * kChunk + 4 * kChunk * kChunk; }

void CpuBackend::gdn_reset(const GdnShape& shape, std::span<const int32_t> slots, const GdnState& state) {
  const int64_t tail = channels_of(shape) * (shape.conv_kernel - 1);
  const int64_t matrix = int64_t{shape.v_heads} * shape.k_dim * shape.v_dim;
  for (const int32_t slot : slots) {
    std::fill_n(state.conv + slot * tail, tail, 0.0f);
    std::fill_n(state.s + slot * matrix, matrix, 0.0f);
  }
}

void CpuBackend::gdn_copy(const GdnShape& shape, std::span<const StateCopy> copies, const GdnState& state) {
  const int64_t tail = channels_of(shape) * (shape.conv_kernel - 1);
  const int64_t matrix = int64_t{shape.v_heads} * shape.k_dim * shape.v_dim;
  for (const auto& [from, to] : copies) {
    std::copy_n(state.conv + from * tail, tail, state.conv + to * tail);
    std::copy_n(state.s + from * matrix, matrix, state.s + to * matrix);
  }
}

void CpuBackend::gdn_conv(const GdnShape& shape, std::span<const Segment> segments, const float* weight,
                          float* qkv, int64_t stride, const GdnState& state) {
  if (shape.conv_kernel < 2 || shape.conv_kernel > kMaxConvKernel) {
    throw EngineError(FailureReason::kUnsupportedArchitecture,
                      "A convolution over " + std::to_string(shape.conv_kernel) +
                          " positions is not supported: 2 to " + std::to_string(kMaxConvKernel) + " are.");
  }
  constexpr int64_t kTileChannels = 16;
  const int64_t channels = channels_of(shape);
  const int64_t tail = shape.conv_kernel - 1;
  const auto count = static_cast<int64_t>(segments.size());
  // Segments within channels: those of one tile share its weights.
  for_rows((channels + kTileChannels - 1) / kTileChannels * count,
           kTileChannels * rows_of(segments) / std::max<int64_t>(count, 1), [&](int64_t tile) {
             const Segment& segment = segments[tile % count];
             const int64_t c = tile / count * kTileChannels;
             ConvTile rows{.x = qkv + segment.first * stride + c,
                           .stride = stride,
                           .rows = segment.count - segment.drafts,
                           .channels = static_cast<int32_t>(std::min(kTileChannels, channels - c)),
                           .taps = shape.conv_kernel,
                           .weight = weight + c * shape.conv_kernel,
                           .tail = state.conv + (segment.slot * channels + c) * tail};
             kernels_.convolve(rows);
             if (segment.drafts == 0) return;
             float passing[kTileChannels * kMaxConvKernel];
             std::copy_n(rows.tail, rows.channels * tail, passing);
             rows.x += rows.rows * stride;
             rows.rows = segment.drafts;
             rows.tail = passing;
             kernels_.convolve(rows);
           });
}

void CpuBackend::gdn(const GdnShape& shape, std::span<const Segment> segments, const float* qkv,
                     int64_t qkv_stride, const float* beta_in, const float* gate_in, int64_t gate_stride,
                     const float* a_log, const float* dt_bias, const GdnState& state, float* out,
                     const GdnNorm& norm) {
  const int64_t rows = rows_of(segments);
  std::vector<int64_t> chunk_rows;                    // first row of every chunk
  std::vector<int64_t> first_chunk(segments.size());  // of each segment
  for (size_t i = 0; i < segments.size(); ++i) {
    first_chunk[i] = static_cast<int64_t>(chunk_rows.size());
    for (int32_t r = 0; r < chunked_rows(segments[i]); r += kChunk)
      chunk_rows.push_back(segments[i].first + r);
  }
  const int64_t k_width = int64_t{shape.k_heads} * shape.k_dim;
  const int64_t gram_floats = 2 * kChunk * kChunk;
  const int64_t gates = rows * shape.v_heads;
  float* q =
      scratch_.shared(2 * rows * k_width + 2 * gates + chunk_rows.size() * shape.k_heads * gram_floats);
  float* k = q + rows * k_width;
  float* beta = k + rows * k_width;
  float* log_decay = beta + gates;
  float* gram = log_decay + gates;

  const float q_scale = 1.0f / std::sqrt(static_cast<float>(shape.k_dim));
  for_rows(rows, 2 * k_width, [&](int64_t t) {
    for (int32_t h = 0; h < shape.k_heads; ++h) {
      const float* x = qkv + t * qkv_stride + h * shape.k_dim;
      const int64_t at = t * k_width + h * shape.k_dim;
      kernels_.l2_normalize(x, shape.k_dim, q_scale, q + at);
      kernels_.l2_normalize(x + k_width, shape.k_dim, 1.0f, k + at);
    }
    for (int32_t h = 0; h < shape.v_heads; ++h) {
      const int64_t at = t * shape.v_heads + h;
      beta[at] = 1.0f / (1.0f + std::exp(-beta_in[t * gate_stride + h]));
      log_decay[at] = -std::exp(a_log[h]) * softplus(gate_in[t * gate_stride + h] + dt_bias[h]);
    }
  });

  const int64_t grams = static_cast<int64_t>(chunk_rows.size()) * shape.k_heads;
  pool_.run(grams, [&](int64_t tile, int worker) {
    const int64_t at = chunk_rows[tile / shape.k_heads] * k_width + tile % shape.k_heads * shape.k_dim;
    kernels_.delta_gram(q + at, k + at, k_width, shape.k_dim, gram + tile * gram_floats,
                        scratch_.of_worker(worker, gram_scratch(shape.k_dim)));
  });

  const int32_t column_tiles = (shape.v_dim + kStateColumns - 1) / kStateColumns;
  const int64_t head_tiles = int64_t{shape.v_heads} * column_tiles;
  pool_.run(static_cast<int64_t>(segments.size()) * head_tiles, [&](int64_t tile, int worker) {
    const size_t index = tile / head_tiles;
    const Segment& segment = segments[index];
    const auto head = static_cast<int32_t>(tile % head_tiles / column_tiles);
    const auto column = static_cast<int32_t>(tile % column_tiles * kStateColumns);
    const int32_t k_head = k_head_of(shape, head);
    const auto tile_from = [&](int64_t row, int32_t count) {
      const int64_t qk = row * k_width + k_head * shape.k_dim;
      const int64_t s = (int64_t{segment.slot} * shape.v_heads + head) * shape.k_dim * shape.v_dim + column;
      return DeltaTile{.q = q + qk,
                       .k = k + qk,
                       .qk_stride = k_width,
                       .v = qkv + row * qkv_stride + 2 * k_width + head * shape.v_dim + column,
                       .v_stride = qkv_stride,
                       .beta = beta + row * shape.v_heads + head,
                       .log_decay = log_decay + row * shape.v_heads + head,
                       .gate_stride = shape.v_heads,
                       .s = state.s + s,
                       .s_stride = shape.v_dim,
                       .out = out + (row * shape.v_heads + head) * shape.v_dim + column,
                       .out_stride = int64_t{shape.v_heads} * shape.v_dim,
                       .rows = count,
                       .k_dim = shape.k_dim,
                       .columns = std::min(kStateColumns, shape.v_dim - column),
                       .gram = gram + (first_chunk[index] * shape.k_heads + k_head) * gram_floats,
                       .gram_stride = shape.k_heads * gram_floats,
                       .scratch = scratch_.of_worker(worker, delta_scratch(shape.k_dim))};
    };
    const int32_t chunked = chunked_rows(segment);
    if (chunked > 0) kernels_.delta_chunks(tile_from(segment.first, chunked));
    const int32_t kept = segment.count - segment.drafts;
    if (chunked < kept) kernels_.delta_recurrent(tile_from(segment.first + chunked, kept - chunked));
    if (segment.drafts > 0) {
      DeltaTile drafts = tile_from(segment.first + kept, segment.drafts);
      for (int32_t i = 0; i < shape.k_dim; ++i) {
        std::copy_n(drafts.s + i * drafts.s_stride, drafts.columns, drafts.scratch + i * drafts.columns);
      }
      drafts.s = drafts.scratch;
      drafts.s_stride = drafts.columns;
      kernels_.delta_recurrent(drafts);
    }
  });
  if (norm.weight == nullptr) return;
  for (const Segment& segment : segments) {
    for_rows(int64_t{segment.count} * shape.v_heads, shape.v_dim, [&](int64_t i) {
      const int64_t row = segment.first + i / shape.v_heads;
      const int64_t head = i % shape.v_heads * shape.v_dim;
      float* const x = out + row * shape.v_heads * shape.v_dim + head;
      kernels_.gated_rms_norm(x, norm.z + row * norm.stride + head, norm.weight, norm.eps, shape.v_dim, x);
    });
  }
}

}  // namespace llmservice::cpu
