// Products of attention in float32: queries as they are, keys and values widened.
#pragma once

#include "backends/cpu/attention_few_rows.h"
#include "backends/cpu/attention_split.h"

namespace llmservice::cpu {

// Widens K, transposed, and V of a split; positions up to the next multiple of 16 are zero.
template <class L, class Reader>
void load_split(const SplitOf<L>& split) {
  const AttentionTile& t = split.tile;
  const AttentionScratch<L>& scratch = split.scratch;
  const AttentionShape& s = *t.shape;
  const auto load = [&](const void* cache, int64_t row, float scale, int d, int n) {
    return Reader::load(cache, row * s.head_dim + d, scale, n);
  };
  // The rows of sixteen positions lie too far apart for the machine to guess the next ones. Every second
  // vector of BF16 begins a line.
  const auto expect = [&](const void* cache, int64_t row, int d) {
    if (d * Reader::kBytes % 64 != 0) return;
    __builtin_prefetch(static_cast<const std::byte*>(cache) + (row * s.head_dim + d) * Reader::kBytes);
  };
  for (int base = 0; base < split.count; base += L::kCount) {
    const KvRow* const rows = split.rows + base;
    const KvRow* const next = base + L::kCount < split.count ? rows + L::kCount : rows;
    for (int d = 0; d < s.head_dim; d += L::kCount) {
      const int n = s.head_dim - d < L::kCount ? s.head_dim - d : L::kCount;
      const auto there = [&](int i) { return base + i < split.count; };
      L tile[L::kCount];
      for (int i = 0; i < L::kCount; ++i) {
        expect(t.cache->k, next[i].row, d);
        tile[i] = there(i) ? load(t.cache->k, rows[i].row, rows[i].k_scale, d, n) : L::zero();
      }
      transpose(tile);
      for (int i = 0; i < n; ++i) tile[i].store(scratch.keys + (d + i) * kKeyStep + base);
      for (int i = 0; i < L::kCount; ++i) {
        expect(t.cache->v, next[i].row, d);
        const L value = there(i) ? load(t.cache->v, rows[i].row, rows[i].v_scale, d, n) : L::zero();
        value.store(scratch.values + (base + i) * scratch.dim + d);
      }
    }
  }
}

template <class L>
struct FloatProducts {
  static void take_queries(const AttentionTile& t, const AttentionScratch<L>& s) {
    const AttentionShape& shape = *t.shape;
    const int group = shape.heads / shape.kv_heads;
    for (int m = 0; m < t.rows * group; ++m) {
      const float* q = t.q + m / group * t.q_stride + m % group * shape.head_dim;
      for (int d = 0; d < shape.head_dim; ++d) s.q[m * shape.head_dim + d] = q[d] * shape.scale;
    }
  }

  // scratch.weights (M, kSplit) = q · Kᵀ.
  static void score(const SplitOf<L>& split) {
    const AttentionTile& t = split.tile;
    const AttentionScratch<L>& s = split.scratch;
    const int dim = t.shape->head_dim;
    with_kv_reader<L>(t.shape->kv_dtype, [&]<class Reader>(Reader) {
      if (split.is_few()) {
        return score_split<L, Reader>(t, split.rows, split.count, s.q, split.m_count, s.weights);
      }
      load_split<L, Reader>(split);
      product<L, false>({s.q, dim, 1}, {s.keys, kKeyStep}, dim, {s.weights, kSplit}, split.m_count,
                        split.padded());
    });
  }

  // Weights of positions i to i + 16 of a row, whose scores have been read.
  static void keep_weights(L weights, float* row, int i) { weights.store(row + i); }

  // to = weights · V, of `pairs`.
  static void sum_values(const SplitOf<L>& split, const SeeingPairs& pairs, Dense to) {
    const AttentionTile& t = split.tile;
    const AttentionScratch<L>& s = split.scratch;
    const Broadcast weights{s.weights + pairs.first * kSplit, kSplit, 1};
    const auto width = static_cast<int>(s.dim);
    with_kv_reader<L>(t.shape->kv_dtype, [&]<class Reader>(Reader) {
      if (split.is_few()) {
        const CachedValues<L, Reader> values{t.cache->v, split.rows, t.shape->head_dim};
        return product<L, false>(weights, values, split.count, to, pairs.count(), width);
      }
      product<L, false>(weights, {s.values, s.dim}, split.count, to, pairs.count(), width);
    });
  }
};

}  // namespace llmservice::cpu
