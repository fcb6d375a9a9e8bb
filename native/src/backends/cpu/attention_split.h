// Attention of one tile over one split: scores = q·Kᵀ, plain softmax, P·V, by the products of FloatProducts
// or of a family's own.
#pragma once

#include <algorithm>

#include "backends/cpu/kernels.h"
#include "backends/cpu/kv_readers.h"
#include "backends/cpu/lanes_math.h"
#include "backends/cpu/product.h"
#include "backends/cpu/row_kernels.h"

namespace llmservice::cpu {

// Scratch of a tile, in floats. dim is head_dim rounded up to whole vectors.
template <class L>
struct AttentionScratch {
  float* q;        // (M, head_dim), scaled; of products of pairs, half as much
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

// What a tile's products need to know of a split.
template <class L>
struct SplitOf {
  const AttentionTile& tile;
  const AttentionScratch<L>& scratch;
  int32_t begin;
  int count;           // positions that some row sees
  int m_count;         // pairs of row and query head
  KvRow rows[kSplit];  // where the cache has them

  SplitOf(const AttentionTile& t, const AttentionScratch<L>& s, int32_t from)
      : tile(t),
        scratch(s),
        begin(from),
        count(seen_end(t) - from < kSplit ? seen_end(t) - from : kSplit),
        m_count(t.rows * query_heads(t)) {
    find_split(t, begin, count, rows);
  }
  bool is_few() const { return m_count <= kFewPairs * tile.kv_heads; }
  // In the cache, of the tile's KV head `head` beside its first.
  int64_t values_before(int head) const {
    return int64_t{head} * tile.shape->block_size * tile.shape->head_dim;
  }
  // Positions, of whole vectors, that a KV head's rows are read at a time: those of a block, which adjoin.
  int run() const {
    const int block = tile.shape->block_size / L::kCount * L::kCount;
    return std::clamp(block, L::kCount, kSplit);
  }
  // Whether each run lies in one block.
  bool has_whole_runs() const {
    const int block = tile.shape->block_size;
    return block % L::kCount == 0 && (block % kSplit == 0 || kSplit % block == 0);
  }
  int padded() const { return (count + L::kCount - 1) / L::kCount * L::kCount; }
};

// Turns scores [from, n) into exp(score - max), as Products keeps weights, and zeroes the rest of [0,
// padded); gives the maximum and the sum.
template <class L, class Products>
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
    Products::keep_weights(weight, scores, i);
    sums = sums + weight;
  }
  for (int i = (n + 15) / 16 * 16; i < padded; i += L::kCount) Products::keep_weights(L::zero(), scores, i);
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

  int count() const { return end - first; }
  SeeingPairs(const AttentionTile& t, int32_t begin) {
    const int group = query_heads(t);
    // Rows that end before the split see nothing of it; since positions ascend they come first.
    const int32_t ended = begin - t.position - reach(t) + 1;
    first = ended > 0 ? ended * group : 0;
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

// Of the pairs that see something of the split at `begin`; `Products` took their queries.
template <class L, class Products>
void sum_split(const AttentionTile& t, const AttentionScratch<L>& s, int32_t begin, const SplitSums& sums) {
  const AttentionShape& shape = *t.shape;
  const int group = query_heads(t);
  const SplitOf<L> split(t, s, begin);
  const SeeingPairs pairs(t, begin);
  // A weight of zero does not hide a NaN from the rows before it, which may count where it does not: those
  // of drafts. Alone, a row meets nothing that lies behind it.
  const int32_t hidden = begin > t.position ? begin + 1 : t.position + 1;
  const int32_t end = begin + split.count;
  if (t.rows > 1 && t.end == 0 && hidden < end && !are_values_finite<L>(t, hidden, end)) {
    for (int m = pairs.first; m < pairs.end; m += group) {
      AttentionScratch<L> own = s;
      own.q += m * shape.head_dim;
      SplitSums row = sums;
      row.values += m * s.dim;
      row.top += m;
      row.total += m;
      sum_split<L, Products>(row_of(t, m / group), own, begin, row);
    }
    return;
  }
  Products::score(split);
  for (int m = pairs.first; m < pairs.end; ++m) {
    const int32_t position = t.position + m / group;
    const int seen = seen_end(t, position) - begin;
    const int unseen = first_seen(shape, position) - begin;
    float* const scores = s.weights + m * kSplit;
    if (t.cap > 0) cap<L>(scores, split.padded(), t.cap);
    softmax_weights<L, Products>(scores, unseen > 0 ? unseen : 0, seen < split.count ? seen : split.count,
                                 split.padded(), sums.top[m], sums.total[m]);
  }
  Products::sum_values(split, pairs, {sums.values + pairs.first * s.dim, s.dim});
}

}  // namespace llmservice::cpu
