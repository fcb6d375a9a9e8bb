// A sequence with its paged cache on the device, its blocks in reverse order, and attention over any cut of
// it.
#pragma once

#include <numeric>

#include "backends/gpu/kernels/attention.h"
#include "backends/gpu/kernels/chunked_rows.h"
#include "backends/gpu/kernels/numbers.h"
#include "gpu_support.h"

namespace llmservice::testing {

// Rows [position, position + count) of the sequence.
struct Piece {
  int32_t position;
  int32_t count;
};

inline AttentionShape attention_shape(int32_t heads, int32_t kv_heads, int32_t dim, int32_t block,
                                      DType dtype, int32_t window = 0, int32_t first = 0) {
  return {heads, kv_heads, dim, block, dtype, 1.0f / std::sqrt(static_cast<float>(dim)), window, first};
}

class PagedSequence {
 public:
  PagedSequence(const AttentionShape& shape, int32_t tokens)
      : shape_(shape),
        tokens_(tokens),
        q(random_floats(tokens * q_width(), 1, 3.0f)),
        k(random_floats(tokens * kv_width(), 2)),
        v(random_floats(tokens * kv_width(), 3)),
        blocks_(reversed((tokens + shape.block_size - 1) / shape.block_size)),
        k_cache_(cache_rows() * shape.head_dim * size_of(shape.kv_dtype), uint8_t{0xff}),
        v_cache_(cache_rows() * shape.head_dim * size_of(shape.kv_dtype), uint8_t{0xff}),
        k_scales_(cache_rows(), NAN),
        v_scales_(cache_rows(), NAN) {}

  int64_t q_width() const { return int64_t{shape_.heads} * shape_.head_dim; }
  int64_t kv_width() const { return int64_t{shape_.kv_heads} * shape_.head_dim; }
  KvCache cache() const { return {k_cache_.data(), v_cache_.data(), k_scales_.data(), v_scales_.data()}; }

  // All that the cache holds, its scales too.
  std::vector<uint8_t> bytes() const {
    std::vector<uint8_t> all = k_cache_.host();
    const std::vector<uint8_t> values = v_cache_.host();
    all.insert(all.end(), values.begin(), values.end());
    for (const std::vector<float>& scales : {k_scales_.host(), v_scales_.host()}) {
      const auto* const bytes = reinterpret_cast<const uint8_t*>(scales.data());
      all.insert(all.end(), bytes, bytes + scales.size() * sizeof(float));
    }
    return all;
  }

  // (blocks, kv_heads, block_size, head_dim) as the cache holds them.
  std::vector<float> keys() const { return widened(k_cache_, k_scales_); }
  std::vector<float> values() const { return widened(v_cache_, v_scales_); }

  // Where a position's row of K or V of a head lies.
  int64_t cache_row(int32_t position, int32_t head) const {
    const int64_t block = blocks_.host()[position / shape_.block_size];
    return (block * shape_.kv_heads + head) * shape_.block_size + position % shape_.block_size;
  }

  // Row i of the step is position i of the sequence.
  std::vector<Segment> segments(const std::vector<Piece>& pieces) const {
    std::vector<Segment> list;
    for (const Piece& piece : pieces) {
      list.push_back({piece.position, piece.count, piece.position, 0, blocks_.data(), chunked_until});
    }
    return list;
  }

  // Rows of a step (tokens, [q | k | v]); q is left out of account.
  // All of k and v to the cache, as they are.
  void write() {
    const int64_t stride = q_width() + 2 * kv_width();
    std::vector<float> rows(tokens_ * stride, 0.0f);
    for (int32_t t = 0; t < tokens_; ++t) {
      std::copy_n(&k[t * kv_width()], kv_width(), &rows[t * stride + q_width()]);
      std::copy_n(&v[t * kv_width()], kv_width(), &rows[t * stride + q_width() + kv_width()]);
    }
    const DeviceArray<Segment> list(segments({{shape_.first, tokens_ - shape_.first}}));
    const DeviceArray<float> values(rows);
    float* const keys = values.data() + q_width();
    run(gpu::norm_rope_write(shape_, {list.data(), 1, tokens_, tokens_}, {}, values.data(), keys,
                             keys + kv_width(), stride, cache()));
  }

  // (tokens, heads, head_dim), NaN where no piece lies.
  std::vector<float> attend(const std::vector<Piece>& pieces) const {
    int32_t max_rows = 0;
    int32_t rows = 0;
    for (const Piece& piece : pieces) max_rows = std::max(max_rows, piece.count), rows += piece.count;
    const std::vector<Segment> own = segments(pieces);
    const DeviceArray<Segment> list(own);
    gpu::StepSegments step{list.data(), static_cast<int32_t>(pieces.size()), max_rows, tokens_};
    for (const Segment& segment : own) {
      step.max_chunked = std::max(step.max_chunked, gpu::chunked_rows(segment));
      step.max_rest = std::max(step.max_rest, segment.count - gpu::chunked_rows(segment));
    }
    const DeviceArray<float> queries(q), out(tokens_ * q_width(), NAN), own_sinks(sinks),
        workspace(gpu::attention_workspace(shape_, rows, tokens_) + 1, NAN);
    for (const gpu::Launch& launch : gpu::attention(shape_, step, queries.data(), q_width(), cache(),
                                                    workspace.data(), out.data(), rules(own_sinks.data()))) {
      run(launch);
    }
    return out.host();
  }

  // The reference over what the cache holds.
  std::vector<float> reference(const std::vector<Piece>& pieces) const {
    AttentionShape shape = shape_;
    shape.kv_dtype = DType::kF32;
    std::vector<float> keys = this->keys(), values = this->values();
    std::vector<Segment> list = segments(pieces);
    const std::vector<int32_t> table = blocks_.host();
    for (Segment& segment : list) segment.blocks = table.data();
    std::vector<float> out(tokens_ * q_width(), NAN);
    ReferenceBackend().attention(shape, list, q.data(), q_width(), {keys.data(), values.data()}, out.data(),
                                 rules(sinks.data()));
    return out;
  }

  std::span<const float> row(const std::vector<float>& rows, int32_t position) const {
    return std::span(rows).subspan(position * q_width(), q_width());
  }

 private:
  static std::vector<int32_t> reversed(int32_t count) {
    std::vector<int32_t> blocks(count);
    std::iota(blocks.rbegin(), blocks.rend(), 1);
    return blocks;
  }
  ScoreRules rules(const float* own_sinks) const {
    return {.cap = cap, .sinks = sinks.empty() ? nullptr : own_sinks, .causal = causal};
  }
  int64_t cache_rows() const {
    return ((tokens_ + shape_.block_size - 1) / shape_.block_size + 1) * int64_t{shape_.block_size} *
           shape_.kv_heads;
  }
  std::vector<float> widened(const DeviceArray<uint8_t>& cache, const DeviceArray<float>& scales) const {
    const std::vector<uint8_t> bytes = cache.host();
    const std::vector<float> factors = scales.host();
    std::vector<float> values(cache_rows() * shape_.head_dim);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = shape_.kv_dtype == DType::kBF16
                      ? widen(DType::kBF16, reinterpret_cast<const std::byte*>(bytes.data()), i)
                      : gpu::fp8_to_float(bytes[i]) * factors[i / shape_.head_dim];
    }
    return values;
  }

  AttentionShape shape_;
  int32_t tokens_;

 public:
  std::vector<float> q;
  std::vector<float> k;
  std::vector<float> v;
  float cap = 0;
  std::vector<float> sinks;
  bool causal = true;
  int32_t chunked_until = 0;  // of the sequence

 private:
  DeviceArray<int32_t> blocks_;
  DeviceArray<uint8_t> k_cache_;
  DeviceArray<uint8_t> v_cache_;
  DeviceArray<float> k_scales_;
  DeviceArray<float> v_scales_;
};

}  // namespace llmservice::testing
