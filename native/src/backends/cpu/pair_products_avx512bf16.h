// One K block of a weight panel times some rows of activations in BF16. Include only from *avx512bf16*.cpp,
// which alone are compiled for that family.
//
// total += for each group of columns that share scales, in order, (chain over the group's pairs) · scale,
// then offset · (sum of the group's activations). Of a pair the second product is added first, then the
// first, each multiply-add rounded once; numbers below 2^-126 count as zero. How rows are cut into passes
// never shows in the bits.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cpu/pair_scales_avx512bf16.h"
#include "backends/cpu/pair_weights_avx512bf16.h"

namespace llmservice::cpu {
namespace {

struct PairBlock {
  PairPlace weights;
  const uint16_t* x;    // (rows, 128)
  const float* x_sums;  // (rows, 8), or null
  int columns;          // of which the last may be a zero beside an odd one
  GroupScales groups;
  float* total;  // (rows, 64)
  // What passes fetch meanwhile, each its share: the next block's weights, and what its groups share.
  const std::byte* next;
  const std::byte* next_shared;
};

// Of a group's activations.
inline float sum_of(const PairBlock& block, int row, int group) {
  const float* const sums = block.x_sums + row * kBlockSums + group * block.groups.columns / kSumColumns;
  return block.groups.columns == kSumColumns ? sums[0] : sums[0] + sums[1];
}

// total (R, outputs from `first` on) += sums · scales, plus offsets · sums of x, which groups alone have;
// without scales a plain sum. Inlined: out of line, all sums would go through memory once more.
template <bool kGrouped, int R, int kSums>
[[gnu::always_inline]] inline void add_sums(const __m512 (&sums)[R][kSums], const PairBlock& block, int group,
                                            int first) {
  float* const total = block.total + first;
  if (!kGrouped && block.groups.scales == nullptr) {
    for (int r = 0; r < R; ++r) {
      for (int j = 0; j < kSums; ++j) {
        float* const to = total + r * kPanelRows + 16 * j;
        _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), sums[r][j]));
      }
    }
    return;
  }
  const int place = group * kPanelRows + first;
  __m512 scale[kSums];
  for (int j = 0; j < kSums; ++j) scale[j] = _mm512_loadu_ps(block.groups.scales + place + 16 * j);
  if (!kGrouped || block.groups.offsets == nullptr) {
    for (int r = 0; r < R; ++r) {
      for (int j = 0; j < kSums; ++j) {
        float* const to = total + r * kPanelRows + 16 * j;
        _mm512_storeu_ps(to, _mm512_fmadd_ps(sums[r][j], scale[j], _mm512_loadu_ps(to)));
      }
    }
    return;
  }
  for (int r = 0; r < R; ++r) {
    const __m512 of_x = _mm512_set1_ps(sum_of(block, r, group));
    for (int j = 0; j < kSums; ++j) {
      float* const to = total + r * kPanelRows + 16 * j;
      const __m512 scaled = _mm512_fmadd_ps(sums[r][j], scale[j], _mm512_loadu_ps(to));
      _mm512_storeu_ps(to,
                       _mm512_fmadd_ps(_mm512_loadu_ps(block.groups.offsets + place + 16 * j), of_x, scaled));
    }
  }
}

// body(integral constant) for 0..kCount - 1.
template <int kCount, class Body>
[[gnu::always_inline]] inline void unrolled(const Body& body) {
  [&]<int... I>(std::integer_sequence<int, I...>) { (body(std::integral_constant<int, I>{}), ...); }
  (std::make_integer_sequence<int, kCount>{});
}

// One sweep over a block runs at the rate of memory, which the machine fetches by itself, faster than by
// prefetches. Several sweeps leave it idle: kFetches has each of their steps fetch `fetched` bytes of what
// comes next into L2.
template <class W, bool kGrouped, int R, bool kFetches>
void multiply_pass(const PairBlock& block, int64_t fetched) {
  constexpr int kHalves = R <= W::kWideRows ? 2 : 1;
  constexpr int kSums = 2 * kHalves;
  constexpr int64_t kStepColumns = 2 * W::kStepPairs;
  const W weights(block.weights);
  const int64_t group_steps = (kGrouped ? block.groups.columns : kDepthBlock) / kStepColumns;
  const int64_t steps = (block.columns + kStepColumns - 1) / kStepColumns;
  const std::byte* next = block.next;
  const std::byte* next_shared = block.next_shared;
  for (int half = 0; half < 2; half += kHalves) {
    const uint16_t* x = block.x;
    int group = 0;
    for (int64_t step = 0; step < steps; ++group) {
      __m512 acc[R][kSums];
      for (int r = 0; r < R; ++r) {
        for (int j = 0; j < kSums; ++j) acc[r][j] = _mm512_setzero_ps();
      }
      for (const int64_t end = std::min(step + group_steps, steps); step < end; ++step, x += kStepColumns) {
        if constexpr (kFetches) {
          for (int line = 0; line < kHalves * W::kHalfBytes; line += 64)
            __builtin_prefetch(next + line, 0, 2);
          next += kHalves * fetched;
          for (int line = 0; line < kHalves * W::kSharedBytes; line += 64)
            __builtin_prefetch(next_shared + line, 0, 2);
          next_shared += kHalves * W::kSharedBytes;
        }
        typename W::Step codes[kHalves];
        for (int h = 0; h < kHalves; ++h) codes[h] = weights.read(step, half + h);
        unrolled<W::kStepPairs>([&](auto i) __attribute__((always_inline)) {
          __m512bh pair[kSums];
          for (int h = 0; h < kHalves; ++h) weights.template take<i>(codes[h], pair[2 * h], pair[2 * h + 1]);
          for (int r = 0; r < R; ++r) {
            int32_t both;
            std::memcpy(&both, x + r * kDepthBlock + 2 * i, sizeof both);
            const auto value = (__m512bh)_mm512_set1_epi32(both);
            for (int j = 0; j < kSums; ++j) acc[r][j] = _mm512_dpbf16_ps(acc[r][j], pair[j], value);
          }
        });
      }
      add_sums<kGrouped>(acc, block, group, 32 * half);
    }
  }
}

template <class W, bool kGrouped, bool kFetches, int... R>
void multiply_pass_of(int rows, const PairBlock& block, int64_t fetched, std::integer_sequence<int, R...>) {
  static constexpr void (*kPasses[])(const PairBlock&,
                                     int64_t) = {multiply_pass<W, kGrouped, R + 1, kFetches>...};
  kPasses[rows - 1](block, fetched);
}

// In passes of rows as even as may be, of which each moves `block` to the next one's rows. next_bytes: of
// what they fetch meanwhile.
template <class W, bool kGrouped>
void multiply_rows(PairBlock& block, int rows, int64_t next_bytes) {
  if (rows <= W::kWideRows) {
    return multiply_pass_of<W, kGrouped, W::kFetchesAlone>(rows, block,
                                                           next_bytes * W::kStepPairs / kDepthBlock,
                                                           std::make_integer_sequence<int, W::kWideRows>{});
  }
  int passes = (rows + W::kMaxRows - 1) / W::kMaxRows;
  const int64_t share = next_bytes / passes;
  for (; passes > 0; --passes, block.next += share) {
    const int count = (rows + passes - 1) / passes;
    // A pass has a step for each half of each pair, or of several.
    multiply_pass_of<W, kGrouped, true>(count, block, share * W::kStepPairs / kDepthBlock,
                                        std::make_integer_sequence<int, W::kMaxRows>{});
    block.x += count * kDepthBlock;
    if (block.x_sums != nullptr) block.x_sums += count * kBlockSums;
    block.total += count * kPanelRows;
    rows -= count;
  }
}

// The block's weights as BF16 in `out`, as Bf16Pairs reads them.
template <class W>
void widen_block(const PairPlace& place, int columns, float* out) {
  const W weights(place);
  auto* to = reinterpret_cast<std::byte*>(out);
  for (int step = 0; step * 2 * W::kStepPairs < columns;
       ++step, to += W::kStepPairs * 2 * Bf16Pairs::kHalfBytes) {
    for (int half = 0; half < 2; ++half) {
      const typename W::Step codes = weights.read(step, half);
      unrolled<W::kStepPairs>([&](auto i) __attribute__((always_inline)) {
        __m512bh low;
        __m512bh high;
        weights.template take<i>(codes, low, high);
        std::byte* const at = to + (2 * i + half) * Bf16Pairs::kHalfBytes;
        _mm512_store_si512(at, (__m512i)low);
        _mm512_store_si512(at + 64, (__m512i)high);
      });
    }
  }
}

}  // namespace
}  // namespace llmservice::cpu
