// Reference paged attention: causal softmax over the cache, in double.
#include <algorithm>
#include <cmath>

#include "ops/dtype.h"
#include "ops/reference.h"

namespace llmservice {
namespace {

// Index of feature 0 of (position, kv head) in a cache of shape (blocks, kv_heads, block_size, head_dim).
int64_t cache_index(const AttentionShape& shape, const Segment& segment, int32_t position, int32_t kv_head) {
  const int64_t block = segment.blocks[position / shape.block_size];
  const int64_t row = (block * shape.kv_heads + kv_head) * shape.block_size + position % shape.block_size;
  return row * shape.head_dim;
}

void store(DType dtype, void* cache, int64_t index, float value) {
  if (dtype == DType::kF32) {
    static_cast<float*>(cache)[index] = value;
  } else {
    static_cast<uint16_t*>(cache)[index] = float_to_bf16(value);
  }
}

double load(DType dtype, const void* cache, int64_t index) {
  return widen(dtype, static_cast<const std::byte*>(cache), index);
}

void attend(const AttentionShape& shape, const Segment& segment, int32_t position, int32_t head,
            const float* q, const KvCache& cache, float* out) {
  const int32_t kv_head = head / (shape.heads / shape.kv_heads);
  const int32_t first = first_seen(shape, position);
  std::vector<double> weights(position + 1, -INFINITY);
  double top = -INFINITY;
  for (int32_t p = first; p <= position; ++p) {
    const int64_t at = cache_index(shape, segment, p, kv_head);
    double dot = 0;
    for (int32_t i = 0; i < shape.head_dim; ++i) dot += q[i] * load(shape.kv_dtype, cache.k, at + i);
    weights[p] = dot * shape.scale;
    top = std::max(top, weights[p]);
  }
  double total = 0;
  for (double& w : weights) total += w = std::exp(w - top);
  for (int32_t i = 0; i < shape.head_dim; ++i) {
    double sum = 0;
    for (int32_t p = first; p <= position; ++p) {
      sum += weights[p] * load(shape.kv_dtype, cache.v, cache_index(shape, segment, p, kv_head) + i);
    }
    out[i] = static_cast<float>(sum / total);
  }
}

}  // namespace

void ReferenceBackend::write_kv(const AttentionShape& shape, std::span<const Segment> segments,
                                const float* k, int64_t k_stride, const float* v, int64_t v_stride,
                                const KvCache& cache) {
  for (const Segment& segment : segments) {
    for (int32_t r = 0; r < segment.count; ++r) {
      const int64_t row = segment.first + r;
      for (int32_t h = 0; h < shape.kv_heads; ++h) {
        const int64_t at = cache_index(shape, segment, segment.position + r, h);
        for (int32_t i = 0; i < shape.head_dim; ++i) {
          store(shape.kv_dtype, cache.k, at + i, k[row * k_stride + h * shape.head_dim + i]);
          store(shape.kv_dtype, cache.v, at + i, v[row * v_stride + h * shape.head_dim + i]);
        }
      }
    }
  }
}

void ReferenceBackend::attention(const AttentionShape& shape, std::span<const Segment> segments,
                                 const float* q, int64_t q_stride, const KvCache& cache, float* out) {
  const int64_t width = static_cast<int64_t>(shape.heads) * shape.head_dim;
  for (const Segment& segment : segments) {
    for (int32_t r = 0; r < segment.count; ++r) {
      const int64_t row = segment.first + r;
      for (int32_t h = 0; h < shape.heads; ++h) {
        attend(shape, segment, segment.position + r, h, q + row * q_stride + h * shape.head_dim, cache,
               out + row * width + h * shape.head_dim);
      }
    }
  }
}

}  // namespace llmservice
