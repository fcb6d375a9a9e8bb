// V of a split from the cache, two positions a row, for products of pairs of BF16. Include only from
// *avx512bf16*.cpp, which alone are compiled for that family.
#pragma once

#include "backends/cpu/attention_split.h"
#include "backends/cpu/product.h"
#include "backends/cpu/simd_avx512.h"

namespace llmservice::cpu {
namespace {

// Lanes of sums of products of pairs: each operand's 32 bits are two numbers in BF16. Of a pair the second
// product is added first.
struct PairLanes {
  static constexpr int kCount = 16;
  static constexpr int kBlockVectors = 4;  // as of Avx512Lanes
  __m512 v;

  static PairLanes set(float pair) { return {_mm512_set1_ps(pair)}; }
  static PairLanes zero() { return {_mm512_setzero_ps()}; }
  static PairLanes load(const float* p) { return {_mm512_loadu_ps(p)}; }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
};

inline PairLanes fma(PairLanes a, PairLanes b, PairLanes sums) {
  return {_mm512_dpbf16_ps(sums.v, (__m512bh)a.v, (__m512bh)b.v)};
}

// Features of two positions together: in `low` 0..3 of each eight, in `high` the others.
struct Unpacked {
  __m512i low;
  __m512i high;

  // second may be null: zeros.
  Unpacked(const uint16_t* first, const uint16_t* second) {
    const __m512i a = _mm512_loadu_si512(first);
    const __m512i b = second == nullptr ? _mm512_setzero_si512() : _mm512_loadu_si512(second);
    low = _mm512_unpacklo_epi16(a, b);
    high = _mm512_unpackhi_epi16(a, b);
  }
};

// Of 32 features unpacked, the first and the last sixteen in order.
inline void in_order(__m512 low, __m512 high, __m512& first, __m512& last) {
  const __m512i begin = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
  const __m512i end = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
  first = _mm512_permutex2var_ps(low, begin, high);
  last = _mm512_permutex2var_ps(low, end, high);
}

// Feature i of two positions in lane i; null: zeros.
inline PairLanes positions_together(const uint16_t* first, const uint16_t* second, int n) {
  const auto load = [n](const uint16_t* p) {
    const __mmask16 mask = p == nullptr ? 0 : Avx512Lanes::first_lanes(n);
    return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, p));
  };
  return {_mm512_castsi512_ps(_mm512_or_si512(load(first), _mm512_slli_epi32(load(second), 16)))};
}

// V of a split in the cache, two positions a row, read as a Dense is.
struct CachedPairs {
  const uint16_t* cache;
  const KvRow* rows;
  int count;
  int dim;
  int first = 0;

  CachedPairs from_column(int j) const { return {cache, rows, count, dim, first + j}; }
  // Two vectors of 16 features of pair p.
  void load_both(int p, PairLanes (&out)[2]) const {
    const Unpacked pairs(at(2 * p), at(2 * p + 1));
    in_order(_mm512_castsi512_ps(pairs.low), _mm512_castsi512_ps(pairs.high), out[0].v, out[1].v);
  }
  // Of position p of the split; null behind its end.
  const uint16_t* at(int p) const { return p < count ? cache + rows[p].row * dim + first : nullptr; }
  template <class>
  PairLanes load(int row, int column) const {
    const CachedPairs from = from_column(column);
    const int left = dim - from.first;
    return positions_together(from.at(2 * row), from.at(2 * row + 1),
                              left < PairLanes::kCount ? left : PairLanes::kCount);
  }
};

// Walks over the lines of a split in the cache as memory has them: a run of each KV head in turn.
class CacheLines {
 public:
  // Begins so many vectors of positions behind the first.
  CacheLines(const SplitOf<Avx512Lanes>& split, const void* cache, int vectors)
      : split_(split), cache_(static_cast<const uint16_t*>(cache)) {
    for (int i = 0; i < vectors * Avx512Lanes::kCount; ++i) next_row();
  }

  void fetch(int lines) {
    const int dim = split_.tile.shape->head_dim;
    for (int i = 0; i < lines && begin_ < split_.count; ++i) {
      __builtin_prefetch(cache_ + head_values_ + split_.rows[row_].row * dim + feature_, 0, 2);
      feature_ += kLineFeatures;
      if (feature_ < dim) continue;
      feature_ = 0;
      next_row();
    }
  }

 private:
  static constexpr int kLineFeatures = 32;

  void next_row() {
    if (++row_ < std::min(begin_ + split_.run(), split_.count)) return;
    if (++head_ == split_.tile.kv_heads) {
      head_ = 0;
      begin_ += split_.run();
    }
    row_ = begin_;
    head_values_ = split_.values_before(head_);
  }

  const SplitOf<Avx512Lanes>& split_;
  const uint16_t* cache_;
  int begin_ = 0;
  int head_ = 0;
  int64_t head_values_ = 0;
  int row_ = 0;
  int feature_ = 0;
};

constexpr int kWideFeatures = 64;  // that sum_wide takes at once
constexpr int kWideRows = 4;       // 4 × 4 sums and 4 values leave room for a weight and what is loaded

// next: what is fetched meanwhile, or null.
// to (R, 64 features) += weights (R, pairs of positions) · V; between the first call and the last, `to` is in
// the order of Unpacked.
template <int R>
void add_wide(Broadcast weights, const CachedPairs& values, Dense to, bool is_first, bool is_last,
              CacheLines* next) {
  __m512 acc[R][4];
  for (int r = 0; r < R; ++r) {
    for (int j = 0; j < 4; ++j) {
      acc[r][j] = is_first ? _mm512_setzero_ps() : _mm512_loadu_ps(to.data + r * to.row_step + 16 * j);
    }
  }
  for (int p = 0; 2 * p < values.count; ++p) {
    const uint16_t* const first = values.at(2 * p);
    const uint16_t* const second = values.at(2 * p + 1);
    if (next != nullptr) next->fetch(4);
    __m512bh column[4];
    for (int half = 0; half < 2; ++half) {
      const Unpacked pairs(first + 32 * half, second == nullptr ? nullptr : second + 32 * half);
      column[2 * half] = (__m512bh)pairs.low;
      column[2 * half + 1] = (__m512bh)pairs.high;
    }
    for (int r = 0; r < R; ++r) {
      const auto weight = (__m512bh)_mm512_set1_ps(weights.data[r * weights.row_step + p]);
      for (int j = 0; j < 4; ++j) acc[r][j] = _mm512_dpbf16_ps(acc[r][j], weight, column[j]);
    }
  }
  for (int r = 0; r < R; ++r) {
    float* const out = to.data + r * to.row_step;
    for (int half = 0; half < 2 && is_last; ++half) {
      in_order(acc[r][2 * half], acc[r][2 * half + 1], acc[r][2 * half], acc[r][2 * half + 1]);
    }
    for (int j = 0; j < 4; ++j) _mm512_storeu_ps(out + 16 * j, acc[r][j]);
  }
}

// to (rows, head_dim) += weights (rows, pairs of positions) · V, as add_wide() does.
inline void add_cached_values(Broadcast weights, const CachedPairs& values, Dense to, int rows, bool is_first,
                              bool is_last, CacheLines& next) {
  static constexpr void (*kSums[])(Broadcast, const CachedPairs&, Dense, bool, bool, CacheLines*) = {
      add_wide<1>, add_wide<2>, add_wide<3>, add_wide<4>};
  for (int d = 0; d < values.dim; d += kWideFeatures) {
    for (int r = 0; r < rows; r += kWideRows) {
      const int count = rows - r < kWideRows ? rows - r : kWideRows;
      const Broadcast own{weights.data + r * weights.row_step, weights.row_step, weights.depth_step};
      kSums[count - 1](own, values.from_column(d), {to.data + r * to.row_step + d, to.row_step}, is_first,
                       is_last, r == 0 ? &next : nullptr);
    }
  }
}

constexpr int kWholeRows = 2;           // 2 × 8 sums and 8 values fill the registers
constexpr int kMaxWholeFeatures = 128;  // of which V's rows are taken whole

// to (R, 32 · kHalves) += weights (R, pairs of positions) · V (count, 32 · kHalves), whose positions lie one
// after the other, as add_wide() does but for prefetches: memory is read as it lies, which the machine
// fetches faster by itself.
template <int R, int kHalves>
void add_whole(Broadcast weights, const uint16_t* v, int count, Dense to, bool is_first, bool is_last) {
  constexpr int kSums = 2 * kHalves;
  __m512 acc[R][kSums];
  for (int r = 0; r < R; ++r) {
    for (int j = 0; j < kSums; ++j) {
      acc[r][j] = is_first ? _mm512_setzero_ps() : _mm512_loadu_ps(to.data + r * to.row_step + 16 * j);
    }
  }
  const auto add = [&](const uint16_t* first, const uint16_t* second, int p) __attribute__((always_inline)) {
    __m512bh weight[R];
    for (int r = 0; r < R; ++r) weight[r] = (__m512bh)_mm512_set1_ps(weights.data[r * weights.row_step + p]);
    for (int half = 0; half < kHalves; ++half) {
      const Unpacked pairs(first + 32 * half, second == nullptr ? nullptr : second + 32 * half);
      for (int r = 0; r < R; ++r) {
        __m512* const sums = acc[r] + 2 * half;
        sums[0] = _mm512_dpbf16_ps(sums[0], weight[r], (__m512bh)pairs.low);
        sums[1] = _mm512_dpbf16_ps(sums[1], weight[r], (__m512bh)pairs.high);
      }
    }
  };
  constexpr int kDim = 32 * kHalves;
  for (int p = 0; p < count / 2; ++p) add(v + 2 * p * kDim, v + (2 * p + 1) * kDim, p);
  if (count % 2 != 0) add(v + (count - 1) * kDim, nullptr, count / 2);
  for (int r = 0; r < R; ++r) {
    float* const out = to.data + r * to.row_step;
    for (int half = 0; half < kHalves && is_last; ++half) {
      in_order(acc[r][2 * half], acc[r][2 * half + 1], acc[r][2 * half], acc[r][2 * half + 1]);
    }
    for (int j = 0; j < kSums; ++j) _mm512_storeu_ps(out + 16 * j, acc[r][j]);
  }
}

// Whether add_whole() takes so many rows of V of `dim` features, where the runs of a split lie in a block
// each.
inline bool takes_whole(int rows, int dim) {
  return rows <= kWholeRows && (dim == kWideFeatures || dim == kMaxWholeFeatures);
}

inline void add_whole_values(Broadcast weights, const uint16_t* v, int count, int dim, Dense to, int rows,
                             bool is_first, bool is_last) {
  using Add = void (*)(Broadcast, const uint16_t*, int, Dense, bool, bool);
  static constexpr Add kAdds[][kWholeRows] = {{add_whole<1, 2>, add_whole<2, 2>},
                                              {add_whole<1, 4>, add_whole<2, 4>}};
  kAdds[dim == kMaxWholeFeatures][rows - 1](weights, v, count, to, is_first, is_last);
}

}  // namespace
}  // namespace llmservice::cpu
