// Attention of one tile: queries (M, head_dim) of one KV head, in splits of 256 absolute positions.
// Splits merge in ascending order by the running maximum, whether one thread computes them or several do.
// A row's bits depend only on its own position, and where it sees what lies behind it on its sequence's
// length: masked weights are exact zeros, splits never move, and splits that a window hides from a row are
// left out for it.
#pragma once

#include "backends/cpu/attention_floats.h"

namespace llmservice::cpu {

// Takes pair m of a split into what the splits before it came to.
template <class L>
void merge_pair(const SplitSums& split, int64_t m, int64_t dim, bool is_first, const SplitSums& into) {
  float* merged = into.values + m * dim;
  const float* values = split.values + m * dim;
  if (is_first) {
    for (int64_t d = 0; d < dim; d += L::kCount) L::load(values + d).store(merged + d);
    into.top[m] = split.top[m];
    into.total[m] = split.total[m];
    return;
  }
  const float both = into.top[m] > split.top[m] ? into.top[m] : split.top[m];
  float factors[L::kCount];
  exp(L::set(into.top[m]) - L::set(both)).store(factors);
  const float before = factors[0];
  exp(L::set(split.top[m]) - L::set(both)).store(factors);
  const float now = factors[0];
  for (int64_t d = 0; d < dim; d += L::kCount) {
    fma(L::load(merged + d), L::set(before), L::load(values + d) * L::set(now)).store(merged + d);
  }
  into.top[m] = both;
  into.total[m] = into.total[m] * before + split.total[m] * now;
}

// The split at `begin`.
template <class L>
void merge_split(const AttentionTile& t, int32_t begin, const SplitSums& split, const SplitSums& into) {
  const int group = query_heads(t);
  const SeeingPairs pairs(t, begin);
  for (int m = pairs.first; m < pairs.end; ++m) {
    const bool is_first = begin == first_split(*t.shape, t.position + m / group);
    merge_pair<L>(split, m, padded_dim(*t.shape), is_first, into);
  }
}

// What a pair's values are multiplied by: one over the sum of its weights, that of its sink included.
template <class L>
float normalizer(const SplitSums& merged, int64_t m, const float* sink) {
  if (sink == nullptr) return 1.0f / merged.total[m];
  const float both = merged.top[m] > *sink ? merged.top[m] : *sink;
  float weights[L::kCount];
  exp(L::set(merged.top[m] - both)).store(weights);
  const float own = weights[0];
  exp(L::set(*sink - both)).store(weights);
  return own / (merged.total[m] * own + weights[0]);
}

template <class L>
void write_merged(const AttentionTile& t, const SplitSums& merged) {
  const AttentionShape& shape = *t.shape;
  const int group = query_heads(t);
  for (int m = 0; m < t.rows * group; ++m) {
    const L factor = L::set(normalizer<L>(merged, m, t.sinks == nullptr ? nullptr : t.sinks + m % group));
    float* out = t.out + m / group * t.out_stride + m % group * shape.head_dim;
    for (int d = 0; d < shape.head_dim; d += L::kCount) {
      const int n = shape.head_dim - d < L::kCount ? shape.head_dim - d : L::kCount;
      (L::load(merged.values + m * padded_dim(shape) + d) * factor).store(out + d, n);
    }
  }
}

template <class L, class Products = FloatProducts<L>>
void attend(const AttentionTile& t) {
  const int m_count = t.rows * query_heads(t);
  const AttentionScratch<L> s(t.scratch, *t.shape, m_count);
  const SplitSums sums(s.sums, m_count, s.dim);
  const SplitSums merged(s.merged, m_count, s.dim);
  Products::take_queries(t, s);
  for (int32_t begin = first_split(*t.shape, t.position); begin < seen_end(t); begin += kSplit) {
    sum_split<L, Products>(t, s, begin, sums);
    merge_split<L>(t, begin, sums, merged);
  }
  write_merged<L>(t, merged);
}

template <class L, class Products = FloatProducts<L>>
void attend_split(const AttentionTile& t, int32_t begin, const SplitSums& sums) {
  const AttentionScratch<L> s(t.scratch, *t.shape, t.rows * query_heads(t));
  Products::take_queries(t, s);
  sum_split<L, Products>(t, s, begin, sums);
}

template <class L>
void merge_splits(const AttentionTile& t, const ComputedSplits& splits) {
  const int m_count = t.rows * query_heads(t);
  const int64_t dim = padded_dim(*t.shape);
  const SplitSums merged(splits.merged, m_count, dim);
  for (int32_t i = 0; i < splits.count; ++i) {
    const SplitSums sums(splits.sums + i * SplitSums::floats(m_count, dim), m_count, dim);
    merge_split<L>(t, splits.begin + i * kSplit, sums, merged);
  }
  if (splits.begin + splits.count * kSplit >= seen_end(t)) write_merged<L>(t, merged);
}

}  // namespace llmservice::cpu
