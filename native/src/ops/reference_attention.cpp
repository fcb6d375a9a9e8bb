// Reference of what happens to q, k and v: norms, rotation, the paged cache, softmax over it, in double.
#include <algorithm>
#include <cmath>

#include "ops/dtype.h"
#include "ops/reference.h"

namespace llmservice {
namespace {

// Row of (position, kv head) in a cache of shape (blocks, kv_heads, block_size, head_dim).
int64_t cache_row(const AttentionShape& shape, const Segment& segment, int32_t position, int32_t kv_head) {
  const int64_t block = segment.blocks[position / shape.block_size];
  return (block * shape.kv_heads + kv_head) * shape.block_size + position % shape.block_size;
}

// The code whose value under `scale` is nearest, by trying all; of two as near the even one.
uint8_t nearest_e4m3(double value, double scale) {
  uint8_t best = 0;
  double distance = INFINITY;
  for (int code = 0; code < 0x7f; ++code) {
    const double off = std::fabs(std::fabs(value) - e4m3_to_float(static_cast<uint8_t>(code)) * scale);
    if (off > distance || (off == distance && code % 2 != 0)) continue;
    best = static_cast<uint8_t>(code);
    distance = off;
  }
  return value < 0 ? best | 0x80 : best;
}

void norm_and_rotate(const NormRope& norm, const float* weight, int64_t row, int32_t dim, float* head) {
  double squares = 0;
  for (int32_t i = 0; i < dim; ++i) squares += static_cast<double>(head[i]) * head[i];
  const double scale = 1.0 / std::sqrt(squares / dim + norm.eps);
  for (int32_t i = 0; i < dim && weight != nullptr; ++i) {
    head[i] = static_cast<float>(head[i] * scale * weight[i]);
  }
  const int32_t half = norm.rotary / 2;
  for (int32_t i = 0; i < half; ++i) {
    const double c = norm.cos[row * half + i];
    const double s = norm.sin[row * half + i];
    const double low = head[i];
    const double high = head[i + half];
    head[i] = static_cast<float>(low * c - high * s);
    head[i + half] = static_cast<float>(high * c + low * s);
  }
}

void store(const AttentionShape& shape, const float* from, void* cache, float* scales, int64_t row) {
  float largest = 0;
  for (int32_t i = 0; i < shape.head_dim; ++i) largest = std::max(largest, std::fabs(from[i]));
  const float scale = largest / 448;
  if (shape.kv_dtype == DType::kF8E4M3) scales[row] = scale;
  for (int32_t i = 0; i < shape.head_dim; ++i) {
    const int64_t index = row * shape.head_dim + i;
    if (shape.kv_dtype == DType::kF32) {
      static_cast<float*>(cache)[index] = from[i];
    } else if (shape.kv_dtype == DType::kF8E4M3) {
      static_cast<uint8_t*>(cache)[index] = nearest_e4m3(from[i], scale);
    } else {
      static_cast<uint16_t*>(cache)[index] = float_to_bf16(from[i]);
    }
  }
}

// Feature i of a row.
double load(const AttentionShape& shape, const void* cache, const float* scales, int64_t row, int32_t i) {
  const double stored = widen(shape.kv_dtype, static_cast<const std::byte*>(cache), row * shape.head_dim + i);
  return shape.kv_dtype == DType::kF8E4M3 ? stored * scales[row] : stored;
}

void attend(const AttentionShape& shape, const Segment& segment, int32_t position, int32_t head,
            const float* q, const KvCache& cache, const ScoreRules& rules, float* out) {
  const int32_t kv_head = head / (shape.heads / shape.kv_heads);
  const int32_t first = first_seen(shape, position);
  const int32_t last = segment.position + segment.count;
  const int32_t behind = shape.window > 0 ? std::min(last, position + shape.window) : last;
  const int32_t end = rules.causal ? position + 1 : behind;
  std::vector<double> weights(end, -INFINITY);
  double top = -INFINITY;
  for (int32_t p = first; p < end; ++p) {
    const int64_t row = cache_row(shape, segment, p, kv_head);
    double dot = 0;
    for (int32_t i = 0; i < shape.head_dim; ++i) dot += q[i] * load(shape, cache.k, cache.k_scales, row, i);
    weights[p] = dot * shape.scale;
    if (rules.cap > 0) weights[p] = rules.cap * std::tanh(weights[p] / rules.cap);
    top = std::max(top, weights[p]);
  }
  const double sink = rules.sinks == nullptr ? -INFINITY : rules.sinks[head];
  top = std::max(top, sink);
  double total = std::exp(sink - top);
  for (double& w : weights) total += w = std::exp(w - top);
  for (int32_t i = 0; i < shape.head_dim; ++i) {
    double sum = 0;
    for (int32_t p = first; p < end; ++p) {
      sum += weights[p] * load(shape, cache.v, cache.v_scales, cache_row(shape, segment, p, kv_head), i);
    }
    out[i] = static_cast<float>(sum / total);
  }
}

}  // namespace

void ReferenceBackend::rope_angles(std::span<const int32_t> positions, const float* frequencies,
                                   int64_t count, float factor, float* cos, float* sin) {
  for (size_t t = 0; t < positions.size(); ++t) {
    for (int64_t i = 0; i < count; ++i) {
      const float angle = static_cast<float>(positions[t]) * frequencies[i];
      cos[t * count + i] = static_cast<float>(std::cos(static_cast<double>(angle)) * factor);
      sin[t * count + i] = static_cast<float>(std::sin(static_cast<double>(angle)) * factor);
    }
  }
}

void ReferenceBackend::norm_rope_write(const AttentionShape& shape, std::span<const Segment> segments,
                                       const NormRope& norm, float* q, float* k, const float* v,
                                       int64_t stride, const KvCache& cache) {
  const int32_t dim = shape.head_dim;
  for (const Segment& segment : segments) {
    for (int32_t r = 0; r < segment.count; ++r) {
      const int64_t row = segment.first + r;
      for (int32_t h = 0; h < shape.heads; ++h) {
        norm_and_rotate(norm, norm.q_norm, row, dim, q + row * stride + h * dim);
      }
      for (int32_t h = 0; h < shape.kv_heads; ++h) {
        float* const head = k + row * stride + h * dim;
        const int64_t at = cache_row(shape, segment, segment.position + r, h);
        std::vector<float> value(v + row * stride + h * dim, v + row * stride + (h + 1) * dim);
        if (norm.v_norm != nullptr) norm_and_rotate({.eps = norm.eps}, norm.v_norm, row, dim, value.data());
        store(shape, value.data(), cache.v, cache.v_scales, at);
        norm_and_rotate(norm, norm.k_norm, row, dim, head);
        store(shape, head, cache.k, cache.k_scales, at);
      }
    }
  }
}

void ReferenceBackend::attention(const AttentionShape& shape, std::span<const Segment> segments,
                                 const float* q, int64_t q_stride, const KvCache& cache, float* out,
                                 const ScoreRules& rules) {
  const int64_t width = static_cast<int64_t>(shape.heads) * shape.head_dim;
  for (const Segment& segment : segments) {
    for (int32_t r = 0; r < segment.count; ++r) {
      const int64_t row = segment.first + r;
      for (int32_t h = 0; h < shape.heads; ++h) {
        attend(shape, segment, segment.position + r, h, q + row * q_stride + h * shape.head_dim, cache, rules,
               out + row * width + h * shape.head_dim);
      }
    }
  }
}

}  // namespace llmservice
