// Attention of few rows, such as a decode's, over one split: keys and values go from the cache to registers.
// Sums run as those of attention_floats.h do, so that their bits are the same.
#pragma once

#include "backends/cpu/kernels.h"
#include "backends/cpu/kv_readers.h"
#include "backends/cpu/product.h"

namespace llmservice::cpu {

// scores (R, 16 positions) += q (R, features) · keys, feature by feature; `key` gives one of 16 positions.
template <class L, int R, class Key>
void add_features(const float* q, int q_step, int features, const Key& key, float* scores) {
  L acc[R];
  for (int r = 0; r < R; ++r) acc[r] = L::load(scores + r * kSplit);
#pragma GCC unroll 32
  for (int f = 0; f < features; ++f) {
    const L column = key(f);
    for (int r = 0; r < R; ++r) acc[r] = fma(L::set(q[r * q_step + f]), column, acc[r]);
  }
  for (int r = 0; r < R; ++r) acc[r].store(scores + r * kSplit);
}

template <class L, class Key>
void add_features(const float* q, int q_step, int features, const Key& key, float* scores, int rows) {
  for (; rows >= 4; rows -= 4, q += 4 * q_step, scores += 4 * kSplit) {
    add_features<L, 4>(q, q_step, features, key, scores);
  }
  if (rows == 3) add_features<L, 3>(q, q_step, features, key, scores);
  if (rows == 2) add_features<L, 2>(q, q_step, features, key, scores);
  if (rows == 1) add_features<L, 1>(q, q_step, features, key, scores);
}

// weights (m_count, count) = q (m_count, head_dim) · Kᵀ with K from the cache, sixteen positions transposed
// in registers: of BF16, two features a lane.
template <class L, class Reader>
void score_split(const AttentionTile& t, const KvRow* rows, int count, const float* q, int m_count,
                 float* weights) {
  const int dim = t.shape->head_dim;
  const auto line_of = [&](const void* cache, const KvRow& kv, int d) {
    return static_cast<const std::byte*>(cache) + (kv.row * dim + d) * Reader::kBytes;
  };
  for (int base = 0; base < count; base += L::kCount, rows += L::kCount) {
    float* const scores = weights + base;
    for (int m = 0; m < m_count; ++m) L::zero().store(scores + m * kSplit);
    const bool is_last = base + L::kCount >= count;
    for (int d = 0; d < dim;) {
      // Rows often lie too far apart for the machine to guess the next ones. V's turn comes after the scores.
      if (d * Reader::kBytes % 64 == 0) {
        for (int i = 0; i < L::kCount; ++i) {
          if (!is_last) __builtin_prefetch(line_of(t.cache->k, rows[i + L::kCount], d));
          __builtin_prefetch(line_of(t.cache->v, rows[i], d), 0, 2);
        }
      }
      L tile[L::kCount];
      if constexpr (Reader::kIsBf16) {
        if (d + 2 * L::kCount <= dim) {
          const auto* keys = static_cast<const uint16_t*>(t.cache->k) + d;
          for (int i = 0; i < L::kCount; ++i) tile[i] = L::load_pairs(keys + rows[i].row * dim);
          transpose(tile);
          const auto key = [&](int f) {
            return f % 2 == 0 ? L::first_bf16(tile[f / 2]) : L::second_bf16(tile[f / 2]);
          };
          add_features<L>(q + d, dim, 2 * L::kCount, key, scores, m_count);
          d += 2 * L::kCount;
          continue;
        }
      }
      const int n = dim - d < L::kCount ? dim - d : L::kCount;
      for (int i = 0; i < L::kCount; ++i) {
        tile[i] = Reader::load(t.cache->k, rows[i].row * dim + d, rows[i].k_scale, n);
      }
      transpose(tile);
      add_features<L>(
          q + d, dim, n, [&](int f) { return tile[f]; }, scores, m_count);
      d += n;
    }
  }
}

// V of a split in the cache, read as a Dense is.
template <class L, class Reader>
struct CachedValues {
  const void* cache;
  const KvRow* rows;
  int dim;
  int first = 0;

  CachedValues from_column(int j) const { return {cache, rows, dim, first + j}; }
  template <class>
  L load(int row, int column) const {
    const int d = first + column;
    const int64_t index = rows[row].row * dim + d;
    if (d + L::kCount <= dim) return Reader::load(cache, index, rows[row].v_scale, L::kCount);
    return Reader::load(cache, index, rows[row].v_scale, dim - d);
  }
};

}  // namespace llmservice::cpu
