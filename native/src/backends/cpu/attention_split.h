// Attention of one tile over one split: scores = q·Kᵀ, plain softmax, P·V.
#pragma once

#include "backends/cpu/attention_few_rows.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/kv_readers.h"
#include "backends/cpu/lanes_math.h"
#include "backends/cpu/product.h"
#include "backends/cpu/row_kernels.h"

namespace llmservice::cpu {

// Scratch of a tile, in floats. dim is head_dim rounded up to whole vectors.
template <class L>
struct AttentionScratch {
  float* q;        // (M, head_dim), scaled
  float* keys;     // (head_dim, kKeyStep)
  float* values;   // (split, dim)
  float* weights;  // (M, split)
  float* sums;     // SplitSums of a split
  float* merged;   // SplitSums of the splits so far
  int64_t dim;

  AttentionScratch(float* p, const AttentionShape& shape, int64_t m) : dim(padded_dim(shape)) {
    const auto take = [&p](int64_t floats) {
      float* taken = p;
      p += (floats + 15) / 16 * 16;
      return taken;
    };
    q = take(m * dim);
    keys = take(dim * kKeyStep);
    values = take(dim * kSplit);
    weights = take(m * kSplit);
    sums = take(SplitSums::floats(m, dim));
    merged = take(SplitSums::floats(m, dim));
  }
};

// Widens K, transposed, and V of positions [begin, begin + count); positions up to the next multiple of 16
// are zero.
template <class L, class Reader>
void load_split(const AttentionTile& t, const AttentionScratch<L>& scratch, int32_t begin, int count) {
  const AttentionShape& s = *t.shape;
  KvRow rows[L::kCount];
  KvRow next[L::kCount];
  const auto find_rows = [&](KvRow(&found)[L::kCount], int base) {
    for (int i = 0; i < L::kCount; ++i) {
      found[i] = base + i < count ? find_kv(t, begin + base + i) : KvRow{};
    }
  };
  const auto load = [&](const void* cache, int64_t row, float scale, int d, int n) {
    return row < 0 ? L::zero() : Reader::load(cache, row * s.head_dim + d, scale, n);
  };
  // The rows of sixteen positions lie too far apart for the machine to guess the next ones. Every second
  // vector of BF16 begins a line.
  const auto expect = [&](const void* cache, int64_t row, int d) {
    if (row < 0 || d * Reader::kBytes % 64 != 0) return;
    __builtin_prefetch(static_cast<const std::byte*>(cache) + (row * s.head_dim + d) * Reader::kBytes);
  };
  find_rows(next, 0);
  for (int base = 0; base < count; base += L::kCount) {
    for (int i = 0; i < L::kCount; ++i) rows[i] = next[i];
    find_rows(next, base + L::kCount);
    for (int d = 0; d < s.head_dim; d += L::kCount) {
      const int n = s.head_dim - d < L::kCount ? s.head_dim - d : L::kCount;
      L tile[L::kCount];
      for (int i = 0; i < L::kCount; ++i) {
        expect(t.cache->k, next[i].row, d);
        tile[i] = load(t.cache->k, rows[i].row, rows[i].k_scale, d, n);
      }
      transpose(tile);
      for (int i = 0; i < n; ++i) tile[i].store(scratch.keys + (d + i) * kKeyStep + base);
      for (int i = 0; i < L::kCount; ++i) {
        expect(t.cache->v, next[i].row, d);
        const L value = load(t.cache->v, rows[i].row, rows[i].v_scale, d, n);
        value.store(scratch.values + (base + i) * scratch.dim + d);
      }
    }
  }
}

// Turns scores [from, n) into exp(score - max) and zeroes the rest of [0, padded); gives the maximum and the
// sum.
template <class L>
void softmax_weights(float* scores, int from, int n, int padded, float& top, float& total) {
  const L lowest = L::set(-__builtin_inff());
  for (int i = 0; i < from; i += L::kCount)
    lowest.store(scores + i, from - i < L::kCount ? from - i : L::kCount);
  if (n % L::kCount != 0) {
    lowest.store(scores + n, L::kCount - n % L::kCount);
  }
  L most = lowest;
  for (int i = 0; i < n; i += L::kCount) most = max(most, L::load(scores + i));
  top = largest(most);
  const L shift = L::set(top);
  L sums = L::zero();
  for (int i = 0; i < n; i += L::kCount) {
    L weight = exp(L::load(scores + i) - shift);
    if (n - i < L::kCount) weight = weight.first(n - i);
    if (i < from) weight = weight - weight.first(from - i < L::kCount ? from - i : L::kCount);
    weight.store(scores + i);
    sums = sums + weight;
  }
  for (int i = (n + 15) / 16 * 16; i < padded; i += L::kCount) L::zero().store(scores + i);
  total = sum(sums);
}

// Whether all values of V at positions [begin, end) are finite: only then are they zero times zero.
template <class L>
bool are_values_finite(const AttentionTile& t, int32_t begin, int32_t end) {
  const AttentionShape& s = *t.shape;
  return with_kv_reader<L>(s.kv_dtype, [&]<class Reader>(Reader) {
    L zeros = L::zero();
    for (int32_t position = begin; position < end; ++position) {
      const KvRow kv = find_kv(t, position);
      for (int d = 0; d < s.head_dim; d += L::kCount) {
        const int n = s.head_dim - d < L::kCount ? s.head_dim - d : L::kCount;
        zeros = fma(Reader::load(t.cache->v, kv.row * s.head_dim + d, kv.v_scale, n), L::zero(), zeros);
      }
    }
    return sum(zeros) == 0;
  });
}

// Those of a tile's (row, query head) pairs that see something of the split at `begin`.
struct SeeingPairs {
  int first;
  int end;

  SeeingPairs(const AttentionTile& t, int32_t begin) {
    const int group = t.shape->heads / t.shape->kv_heads;
    // Rows that end before the split see nothing of it; since positions ascend they come first.
    first = begin > t.position ? (begin - t.position) * group : 0;
    // Rows whose window begins after it come last.
    end = t.rows * group;
    while (end > first && first_split(*t.shape, t.position + (end - 1) / group) > begin) end -= group;
  }
};

// Row `i` of a tile as a tile of its own.
inline AttentionTile row_of(const AttentionTile& t, int i) {
  AttentionTile row = t;
  row.rows = 1;
  row.position += i;
  row.q += i * t.q_stride;
  row.out += i * t.out_stride;
  return row;
}

template <class L>
void scale_queries(const AttentionTile& t, const AttentionScratch<L>& s) {
  const AttentionShape& shape = *t.shape;
  const int group = shape.heads / shape.kv_heads;
  for (int m = 0; m < t.rows * group; ++m) {
    const float* q = t.q + m / group * t.q_stride + m % group * shape.head_dim;
    for (int d = 0; d < shape.head_dim; ++d) s.q[m * shape.head_dim + d] = q[d] * shape.scale;
  }
}

// Of the pairs that see something of the split at `begin`; queries are scaled.
template <class L>
void sum_split(const AttentionTile& t, const AttentionScratch<L>& s, int32_t begin, const SplitSums& sums) {
  const AttentionShape& shape = *t.shape;
  const int group = shape.heads / shape.kv_heads;
  const int m_count = t.rows * group;
  const int32_t last = t.position + t.rows;  // positions below this are visible to some row
  const int count = last - begin < kSplit ? last - begin : kSplit;
  const SeeingPairs pairs(t, begin);
  // A weight of zero does not hide a NaN from the rows before it, which may count where it does not: those
  // of drafts. Alone, a row meets nothing that lies behind it.
  const int32_t hidden = begin > t.position ? begin + 1 : t.position + 1;
  if (t.rows > 1 && hidden < begin + count && !are_values_finite<L>(t, hidden, begin + count)) {
    for (int m = pairs.first; m < pairs.end; m += group) {
      AttentionScratch<L> own = s;
      own.q += m * shape.head_dim;
      SplitSums row = sums;
      row.values += m * s.dim;
      row.top += m;
      row.total += m;
      sum_split<L>(row_of(t, m / group), own, begin, row);
    }
    return;
  }
  const int padded = (count + L::kCount - 1) / L::kCount * L::kCount;
  const bool is_few = m_count <= kFewRows;
  KvRow rows[kSplit];  // where rows are few
  if (is_few) find_split(t, begin, count, rows);
  with_kv_reader<L>(shape.kv_dtype, [&]<class Reader>(Reader) {
    if (is_few) return score_split<L, Reader>(t, rows, count, s.q, m_count, s.weights);
    load_split<L, Reader>(t, s, begin, count);
    product<L, false>({s.q, shape.head_dim, 1}, {s.keys, kKeyStep}, shape.head_dim, {s.weights, kSplit},
                      m_count, padded);
  });
  for (int m = pairs.first; m < pairs.end; ++m) {
    const int32_t position = t.position + m / group;
    const int seen = position + 1 - begin;
    const int unseen = first_seen(shape, position) - begin;
    if (t.cap > 0) cap<L>(s.weights + m * kSplit, padded, t.cap);
    softmax_weights<L>(s.weights + m * kSplit, unseen > 0 ? unseen : 0, seen < count ? seen : count, padded,
                       sums.top[m], sums.total[m]);
  }
  const Broadcast weights{s.weights + pairs.first * kSplit, kSplit, 1};
  const Dense to{sums.values + pairs.first * s.dim, s.dim};
  const auto width = static_cast<int>(s.dim);
  with_kv_reader<L>(shape.kv_dtype, [&]<class Reader>(Reader) {
    if (is_few) {
      const CachedValues<L, Reader> values{t.cache->v, rows, shape.head_dim};
      return product<L, false>(weights, values, count, to, pairs.end - pairs.first, width);
    }
    product<L, false>(weights, {s.values, s.dim}, count, to, pairs.end - pairs.first, width);
  });
}

}  // namespace llmservice::cpu
