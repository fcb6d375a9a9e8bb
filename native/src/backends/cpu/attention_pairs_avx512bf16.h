// Products of attention in pairs of BF16: queries, once scaled, and weights are rounded to what keys and
// values are kept in. Include only from *avx512bf16*.cpp, which alone are compiled for that family.
#pragma once

#include <algorithm>

#include "backends/cpu/attention_few_rows.h"
#include "backends/cpu/attention_split.h"
#include "backends/cpu/key_pairs.h"
#include "backends/cpu/value_pairs_avx512bf16.h"

namespace llmservice::cpu {
namespace {

// Of the n 16-bit numbers at p, two a lane; zeros behind them.
inline Avx512Lanes load_pairs(const uint16_t* p, int n) {
  const uint32_t mask = n >= 32 ? 0xffffffff : (uint32_t{1} << n) - 1;
  return {_mm512_castsi512_ps(_mm512_maskz_loadu_epi16(mask, p))};
}

// K in the cache as key_pairs.h has it, pairs of features a row, read as a Dense is: four vectors of sixteen
// positions, and those that are fetched meanwhile.
struct CachedKeys {
  static constexpr int kVectors = PairLanes::kBlockVectors;
  const float* vectors[kVectors];
  const float* next[kVectors];

  template <class>
  PairLanes load(int pair, int column) const {
    const int i = column / PairLanes::kCount;
    __builtin_prefetch(next[i] + pair * kKeyGroup, 0, 2);
    return PairLanes::load(vectors[i] + pair * kKeyGroup);
  }
};

struct PairProducts {
  using L = Avx512Lanes;
  static constexpr int kScoredPositions = 64;  // whose scores are computed for the rows that see some of them
  static constexpr int kVectorsAhead = 3;      // of sixteen positions, that the cache is asked for
  static constexpr int kSummedPairs = 64;      // whose V, of 64 features, takes half of an L1 cache

  // Of a row of queries, the first half of its scratch.
  static void take_queries(const AttentionTile& t, const AttentionScratch<L>& s) {
    const AttentionShape& shape = *t.shape;
    const int group = query_heads(t);
    for (int m = 0; m < t.rows * group; ++m) {
      const float* q = t.q + m / group * t.q_stride + m % group * shape.head_dim;
      round(q, shape.head_dim, shape.scale, s.q + m * shape.head_dim);
    }
  }

  static void score(const SplitOf<L>& split) {
    const AttentionTile& t = split.tile;
    const AttentionScratch<L>& s = split.scratch;
    if (keeps_key_pairs(*t.shape)) {
      score_kept(split);
      if (!split.is_few()) load_values(split);
      return;
    }
    if (split.is_few()) return score_in_place(split);
    load_keys(split);
    load_values(split);
    const int dim = t.shape->head_dim;
    for (int j = 0; j < split.padded(); j += kScoredPositions) {
      // Rows before these positions do not see them.
      const int first = SeeingPairs(t, split.begin + j).first;
      const int columns = std::min(split.padded() - j, kScoredPositions);
      product<PairLanes, false>({s.q + first * dim, dim, 1}, Dense{s.keys + j, kKeyStep}, pairs_of(dim),
                                {s.weights + first * kSplit + j, kSplit}, split.m_count - first, columns);
    }
  }

  // Two in the place of a float.
  static void keep_weights(L weights, float* row, int i) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(reinterpret_cast<uint16_t*>(row) + i),
                        (__m256i)_mm512_cvtneps_pbh(weights.v));
  }

  static void sum_values(const SplitOf<L>& split, const SeeingPairs& pairs, Dense to) {
    const AttentionScratch<L>& s = split.scratch;
    const Broadcast weights{s.weights + pairs.first * kSplit, kSplit, 1};
    if (split.is_few()) return sum_in_place(split, weights, to, pairs.count());
    const int all = pairs_of(split.count);
    const int half = std::min(all, kSummedPairs);
    const auto width = static_cast<int>(s.dim);
    product<PairLanes, false>(weights, Dense{s.values, s.dim}, half, to, pairs.count(), width);
    if (all == half) return;
    product<PairLanes, true>({weights.data + half, kSplit, 1}, Dense{s.values + half * s.dim, s.dim},
                             all - half, to, pairs.count(), width);
  }

 private:
  static constexpr int pairs_of(int numbers) { return (numbers + 1) / 2; }

  // out = the n numbers, times scale, in BF16, two in the place of a float.
  static void round(const float* from, int n, float scale, float* out) {
    auto* to = reinterpret_cast<uint16_t*>(out);
    const __m512 factor = _mm512_set1_ps(scale);
    for (int i = 0; i < n; i += L::kCount) {
      const int count = n - i < L::kCount ? n - i : L::kCount;
      const __m512 scaled = _mm512_mul_ps(L::load(from + i, count).v, factor);
      // The place beside a last odd number is a zero's.
      const __mmask16 kept = L::first_lanes(2 * pairs_of(count));
      _mm256_mask_storeu_epi16(to + i, kept, (__m256i)_mm512_cvtneps_pbh(scaled));
    }
  }

  // score() with K from the cache as it lies there.
  static void score_kept(const SplitOf<L>& split) {
    const AttentionTile& t = split.tile;
    const AttentionScratch<L>& s = split.scratch;
    const int dim = t.shape->head_dim;
    const int heads = t.kv_heads;
    const int queries = split.m_count / heads;
    const auto first_of = [&](int step) { return step / heads * kScoredPositions; };
    const auto find = [&](int step, const float*(&vectors)[CachedKeys::kVectors]) {
      const auto* k = static_cast<const float*>(t.cache->k) + split.values_before(step % heads) / 2;
      for (int i = 0; i < CachedKeys::kVectors; ++i) {
        const int position = std::min(first_of(step) + i * L::kCount, split.padded() - L::kCount);
        vectors[i] = k + first_key_pair(split.rows[position].row, dim);
      }
    };
    const int steps = (split.count + kScoredPositions - 1) / kScoredPositions * heads;
    CachedKeys keys;
    find(0, keys.next);
    for (int step = 0; step < steps; ++step) {
      std::ranges::copy(keys.next, keys.vectors);
      if (step + 1 < steps) {
        find(step + 1, keys.next);
      } else {
        fetch_values(split, keys.next);
      }
      const int j = first_of(step);
      // Rows before these positions do not see them.
      const int unseeing = t.rows == 1 ? 0 : SeeingPairs(t, split.begin + j).first;
      const int first = step % heads * queries + unseeing;
      multiply(keys, {s.q + first * dim, dim, 1}, pairs_of(dim), {s.weights + first * kSplit + j, kSplit},
               queries - unseeing, std::min(split.padded() - j, kScoredPositions) / L::kCount);
    }
  }

  // V's turn comes after K's: its first lines are fetched beside the last of K.
  static void fetch_values(const SplitOf<L>& split, const float* (&next)[CachedKeys::kVectors]) {
    const int dim = split.tile.shape->head_dim;
    const auto* v = static_cast<const uint16_t*>(split.tile.cache->v) + split.rows[0].row * dim;
    for (int i = 0; i < CachedKeys::kVectors; ++i) {
      next[i] = reinterpret_cast<const float*>(v + i * kKeyGroup * dim);
    }
  }

  static void multiply(const CachedKeys& keys, Broadcast q, int pairs, Dense scores, int rows, int vectors) {
    switch (vectors) {
      case 1:
        return product_rows<PairLanes, false, 1>(q, keys, pairs, scores, rows);
      case 2:
        return product_rows<PairLanes, false, 2>(q, keys, pairs, scores, rows);
      case 3:
        return product_rows<PairLanes, false, 3>(q, keys, pairs, scores, rows);
      default:
        return product_rows<PairLanes, false, CachedKeys::kVectors>(q, keys, pairs, scores, rows);
    }
  }

  // K of the split as (pairs of features, positions), zeros up to the next multiple of 16 positions.
  static void load_keys(const SplitOf<L>& split) {
    const AttentionTile& t = split.tile;
    const int dim = t.shape->head_dim;
    const auto* k = static_cast<const uint16_t*>(t.cache->k);
    const auto* v = static_cast<const uint16_t*>(t.cache->v);
    for (int base = 0; base < split.count; base += L::kCount) {
      const KvRow* const rows = split.rows + base;
      const bool is_last = base + L::kCount >= split.count;
      for (int d = 0; d < dim; d += 2 * L::kCount) {
        L tile[L::kCount];
        for (int i = 0; i < L::kCount; ++i) {
          // The rows of sixteen positions lie too far apart for the machine to guess the next ones.
          if (!is_last) __builtin_prefetch(k + rows[L::kCount + i].row * dim + d);
          __builtin_prefetch(v + rows[i].row * dim + d);
          tile[i] = load_pairs(k + rows[i].row * dim + d, base + i < split.count ? dim - d : 0);
        }
        transpose(tile);
        const int pairs = pairs_of(dim - d < 2 * L::kCount ? dim - d : 2 * L::kCount);
        for (int i = 0; i < pairs; ++i) {
          tile[i].store(split.scratch.keys + (d / 2 + i) * kKeyStep + base);
        }
      }
    }
  }

  // V of the split as (pairs of positions, features), likewise.
  static void load_values(const SplitOf<L>& split) {
    const int dim = split.tile.shape->head_dim;
    const auto* v = static_cast<const uint16_t*>(split.tile.cache->v);
    const CachedPairs values{v, split.rows, split.count, dim};
    for (int p = 0; p < pairs_of(split.count); ++p) {
      float* const to = split.scratch.values + p * split.scratch.dim;
      int d = 0;
      for (; d + 2 * L::kCount <= dim; d += 2 * L::kCount) {
        PairLanes both[2];
        values.from_column(d).load_both(p, both);
        both[0].store(to + d);
        both[1].store(to + d + L::kCount);
      }
      for (; d < dim; d += L::kCount) values.load<PairLanes>(p, d).store(to + d);
    }
  }

  // score() with K from the cache, sixteen positions transposed in registers.
  [[gnu::noinline]] static void score_in_place(const SplitOf<L>& split) {
    const AttentionTile& t = split.tile;
    const int dim = t.shape->head_dim;
    const int queries = split.m_count / t.kv_heads;
    CacheLines next(split, t.cache->k, kVectorsAhead);
    for_runs(split, [&](int head, int begin, int end) {
      const auto* k = static_cast<const uint16_t*>(t.cache->k) + split.values_before(head);
      const float* const q = split.scratch.q + head * queries * dim;
      for (int base = begin; base < end; base += L::kCount) {
        const KvRow* const rows = split.rows + base;
        float* const scores = split.scratch.weights + head * queries * kSplit + base;
        for (int m = 0; m < queries; ++m) L::zero().store(scores + m * kSplit);
        for (int d = 0; d < dim; d += 2 * L::kCount) {
          next.fetch(L::kCount);
          L tile[L::kCount];
          for (int i = 0; i < L::kCount; ++i) tile[i] = load_pairs(k + rows[i].row * dim + d, dim - d);
          transpose(tile);
          const int pairs = pairs_of(dim - d < 2 * L::kCount ? dim - d : 2 * L::kCount);
          add_features<PairLanes>(
              q + d / 2, dim, pairs, [&](int f) { return PairLanes{tile[f].v}; }, scores, queries);
        }
      }
    });
  }

  // to (pairs, head_dim) = weights (pairs, pairs of positions) · V, with V from the cache.
  static void sum_in_place(const SplitOf<L>& split, Broadcast weights, Dense to, int rows) {
    const AttentionTile& t = split.tile;
    const int dim = t.shape->head_dim;
    const int queries = rows / t.kv_heads;
    const auto of_head = [&](int head, int begin, int end, const auto& sum) {
      const auto* v = static_cast<const uint16_t*>(t.cache->v) + split.values_before(head);
      const int64_t m = head * queries;
      sum(Broadcast{weights.data + m * kSplit + begin / 2, kSplit, 1},
          CachedPairs{v, split.rows + begin, end - begin, dim},
          Dense{to.data + m * to.row_step, to.row_step});
    };
    if (dim % kWideFeatures != 0) {
      for (int head = 0; head < t.kv_heads; ++head) {
        of_head(head, 0, split.count, [&](Broadcast by, const CachedPairs& v, Dense sums) {
          product<PairLanes, false>(by, v, pairs_of(split.count), sums, queries, dim);
        });
      }
      return;
    }
    if (takes_whole(queries, dim) && split.has_whole_runs()) {
      return for_runs(split, [&](int head, int begin, int end) {
        of_head(head, begin, end, [&](Broadcast by, const CachedPairs& v, Dense sums) {
          add_whole_values(by, v.at(0), v.count, dim, sums, queries, begin == 0, end == split.count);
        });
      });
    }
    CacheLines next(split, t.cache->v, kVectorsAhead);
    for_runs(split, [&](int head, int begin, int end) {
      of_head(head, begin, end, [&](Broadcast by, const CachedPairs& v, Dense sums) {
        add_cached_values(by, v, sums, queries, begin == 0, end == split.count, next);
      });
    });
  }

  // Calls `use` with each KV head and each run of its positions, in the order of memory.
  template <class Use>
  static void for_runs(const SplitOf<L>& split, const Use& use) {
    for (int begin = 0; begin < split.count; begin += split.run()) {
      const int end = std::min(begin + split.run(), split.count);
      for (int head = 0; head < split.tile.kv_heads; ++head) use(head, begin, end);
    }
  }
};

}  // namespace
}  // namespace llmservice::cpu
