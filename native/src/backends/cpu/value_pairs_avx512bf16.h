// V of a split from the cache, two positions a row, for products of pairs of BF16. Include only from
// *avx512bf16*.cpp, which alone are compiled for that family.
#pragma once

#include "backends/cpu/kv_readers.h"
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

// Walks over the lines of rows of the cache as memory has them.
class CacheLines {
 public:
  CacheLines(const uint16_t* cache, const KvRow* rows, int dim) : cache_(cache), row_(rows), dim_(dim) {}

  template <int kLocality>
  void fetch(int lines) {
    for (int i = 0; i < lines; ++i) {
      __builtin_prefetch(cache_ + row_->row * dim_ + feature_, 0, kLocality);
      feature_ += kLineFeatures;
      if (feature_ < dim_) continue;
      feature_ = 0;
      ++row_;
    }
  }

 private:
  static constexpr int kLineFeatures = 32;

  const uint16_t* cache_;
  const KvRow* row_;
  int dim_;
  int feature_ = 0;
};

constexpr int kWideFeatures = 64;  // that sum_wide takes at once
constexpr int kWideRows = 4;       // 4 × 4 sums and 4 values leave room for a weight and what is loaded

// to (R, 64 features) = weights (R, pairs of positions) · V.
template <int R>
void sum_wide(Broadcast weights, const CachedPairs& values, Dense to) {
  __m512 acc[R][4];
  for (int r = 0; r < R; ++r) {
    for (int j = 0; j < 4; ++j) acc[r][j] = _mm512_setzero_ps();
  }
  for (int p = 0; 2 * p < values.count; ++p) {
    const uint16_t* const first = values.at(2 * p);
    const uint16_t* const second = values.at(2 * p + 1);
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
    for (int half = 0; half < 2; ++half) {
      __m512 sums[2];
      in_order(acc[r][2 * half], acc[r][2 * half + 1], sums[0], sums[1]);
      float* const out = to.data + r * to.row_step + 32 * half;
      _mm512_storeu_ps(out, sums[0]);
      _mm512_storeu_ps(out + 16, sums[1]);
    }
  }
}

// to (rows, head_dim) = weights (rows, pairs of positions) · V.
inline void sum_cached_values(Broadcast weights, const CachedPairs& values, Dense to, int rows) {
  static constexpr void (*kSums[])(Broadcast, const CachedPairs&, Dense) = {sum_wide<1>, sum_wide<2>,
                                                                            sum_wide<3>, sum_wide<4>};
  if (values.dim % kWideFeatures != 0) {
    return product<PairLanes, false>(weights, values, (values.count + 1) / 2, to, rows, values.dim);
  }
  for (int d = 0; d < values.dim; d += kWideFeatures) {
    for (int r = 0; r < rows; r += kWideRows) {
      const int count = rows - r < kWideRows ? rows - r : kWideRows;
      const Broadcast own{weights.data + r * weights.row_step, weights.row_step, weights.depth_step};
      kSums[count - 1](own, values.from_column(d), {to.data + r * to.row_step + d, to.row_step});
    }
  }
}

}  // namespace
}  // namespace llmservice::cpu
