// One K block of a panel of Q4_K or Q6_K times some rows of activations in fixed point. Include only from
// *avx2*.cpp, which alone are compiled for that family.
//
// total += scale of x · (d · Σ over groups (group's scale · Σ code · x) - dmin · Σ (group's minimum · Σ x)),
// of Q6_K without minima. Sums of products are of integers, hence exact, and fit 32 bits: 15 · 32767 · 32 and
// 32 · 32767 · 16 are at most 2^24, which float32 holds too. The sums over groups are chains of fused
// multiply-adds in order, so that how rows are cut into passes never shows in the bits.
#pragma once

#include <cstring>

#include "backends/cpu/fixed_codes_avx2.h"

namespace llmservice::cpu {
namespace {

[[gnu::always_inline]] inline __m256i pair_of(const int16_t* values, int pair) {
  int32_t both;
  std::memcpy(&both, values + 2 * pair, sizeof both);
  return _mm256_set1_epi32(both);
}

// Sums over the groups of a K block, of R rows and V vectors of outputs.
template <DType kType, int R, int V>
struct GroupSums {
  __m256 scaled[R][V];
  __m256 minima[R][V];

  GroupSums() {
    for (int r = 0; r < R; ++r) {
      for (int j = 0; j < V; ++j) scaled[r][j] = minima[r][j] = _mm256_setzero_ps();
    }
  }
  [[gnu::always_inline]] void add(int r, int j, __m256i sum, __m256 scale) {
    scaled[r][j] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), scale, scaled[r][j]);
  }
  [[gnu::always_inline]] void add_minimum(int r, int j, const FixedBlock& x, int group, __m256 minimum) {
    minima[r][j] = _mm256_fmadd_ps(_mm256_set1_ps(x.group_sums[group]), minimum, minima[r][j]);
  }
  // total (rows, 64), from output `first` on.
  void finish(const CodeBlock& block, const FixedBlock* x, int first, float* total) const {
    for (int j = 0; j < V; ++j) {
      const int output = first + kLanes * j;
      const __m256 d = load_half(block.shared + shared_half(0), output);
      for (int r = 0; r < R; ++r) {
        __m256 value = _mm256_mul_ps(d, scaled[r][j]);
        if constexpr (kHasMinima<kType>) {
          value = _mm256_fnmadd_ps(load_half(block.shared + shared_half(1), output), minima[r][j], value);
        }
        float* const to = total + r * kPanelRows + output;
        _mm256_storeu_ps(to, _mm256_fmadd_ps(_mm256_set1_ps(x[r].scale), value, _mm256_loadu_ps(to)));
      }
    }
  }
};

// Codes go from memory to registers, anew for each pass. What lies as far ahead as one sweep takes is
// fetched.
template <DType kType, int R>
[[gnu::noinline]] void multiply_codes(const CodeBlock& block, const FixedBlock* x, float* total) {
  constexpr int V = R == 1 ? 8 : R == 2 ? 4 : 2;
  constexpr int kAhead = V == 8 ? 2048 : kDepthBlock * kPanelRows / 2;
  constexpr int kEights = kGroupSize<kType> / kEight;
  const int zero_code = kType == DType::kQ6_K ? 32 : 0;
  for (int first = 0; first < kPanelRows; first += V * kLanes) {
    GroupSums<kType, R, V> sums;
    for (int group = 0; group < kGroups<kType>; ++group) {
      const std::byte* const scales = block.shared + shared_group(kType, block.first_group + group);
      if (first == 0) fetch_shared<kType, 3>(block, group);
      __m256i acc[R][V];
      for (int r = 0; r < R; ++r) {
        for (int j = 0; j < V; ++j) {
          acc[r][j] = kType == DType::kQ6_K ? _mm256_set1_epi32(-zero_code * x[r].sums[group])
                                            : _mm256_setzero_si256();
        }
      }
#pragma GCC unroll 1  // all at once, codes would not stay in registers
      for (int eight = 0; eight < kEights; ++eight) {
        const std::byte* const ahead =
            block.weights + (group * kEights + eight) * 4 * kPanelRows + 4 * first + kAhead;
        for (int line = 0; line < 4 * V * kLanes; line += 64) __builtin_prefetch(ahead + line, 0, 3);
        const int pair = (group * kEights + eight) * 4;
        for (int j = 0; j < V; ++j) {
          const FourPairs codes = read_codes<kType>(block, group, eight, first + kLanes * j);
          for (int r = 0; r < R; ++r) {
            for (int i = 0; i < 4; ++i) {
              acc[r][j] =
                  _mm256_add_epi32(acc[r][j], _mm256_madd_epi16(codes.at[i], pair_of(x[r].values, pair + i)));
            }
          }
        }
      }
      for (int j = 0; j < V; ++j) {
        const int output = first + kLanes * j;
        const __m256 scale = load_small(scales, output, !kHasMinima<kType>);
        for (int r = 0; r < R; ++r) sums.add(r, j, acc[r][j], scale);
        if constexpr (kHasMinima<kType>) {
          const __m256 minimum = load_small(scales + kPanelRows, output, false);
          for (int r = 0; r < R; ++r) sums.add_minimum(r, j, x[r], group, minimum);
        }
      }
    }
    sums.finish(block, x, first, total);
  }
}

// A K block's codes as pairs of 16 bits around zero, (64 pairs, 64 outputs), and what its groups share.
template <DType kType>
struct ReadBlock {
  const std::byte* pairs;
  const float* scales;  // (groups, 64)
  const float* minima;  // (groups, 64)

  static constexpr int kPairBytes = kDepthBlock * kPanelRows * 2;
  static_assert(kPairBytes + 2 * kGroups<kType> * kPanelRows * 4 <= kPanelScratch * 4);

  ReadBlock(const CodeBlock& block, float* scratch) {
    auto* const to = reinterpret_cast<std::byte*>(scratch);
    float* const scale_to = scratch + kPairBytes / sizeof(float);
    float* const minimum_to = scale_to + kGroups<kType> * kPanelRows;
    pairs = to;
    scales = scale_to;
    minima = minimum_to;
    constexpr int kEights = kGroupSize<kType> / kEight;
    const __m256i zero_code = _mm256_set1_epi16(kType == DType::kQ6_K ? 32 : 0);
    for (int group = 0; group < kGroups<kType>; ++group) {
      fetch_shared<kType, 2>(block, group);
      for (int eight = 0; eight < kEights; ++eight) {
        const int row = group * kEights + eight;
        // The next block arrives while this one is multiplied.
        const std::byte* const next = block.weights + (row + kDepthBlock / kEight) * 4 * kPanelRows;
        for (int line = 0; line < 4 * kPanelRows; line += 64) __builtin_prefetch(next + line, 0, 2);
        for (int output = 0; output < kPanelRows; output += kLanes) {
          const FourPairs codes = read_codes<kType>(block, group, eight, output);
          for (int i = 0; i < 4; ++i) {
            auto* const at = to + ((row * 4 + i) * kPanelRows + output) * 4;
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), _mm256_sub_epi16(codes.at[i], zero_code));
          }
        }
      }
      const std::byte* const shared = block.shared + shared_group(kType, block.first_group + group);
      for (int output = 0; output < kPanelRows; output += kLanes) {
        const int at = group * kPanelRows + output;
        _mm256_storeu_ps(scale_to + at, load_small(shared, output, !kHasMinima<kType>));
        if constexpr (kHasMinima<kType>)
          _mm256_storeu_ps(minimum_to + at, load_small(shared + kPanelRows, output, false));
      }
    }
  }
};

// Has the compiler leave x in the register where it is: GCC 12 loads operands anew for each use, and moves
// sums from register to register in each turn of a loop.
[[gnu::always_inline]] inline void keep(__m256i& x) { asm("" : "+x"(x)); }

// Of R rows and two vectors of outputs: out (R, 16) = Σ over `count` pairs. Not inlined, so that what is
// around it does not decide how well its loop is compiled.
template <int R>
[[gnu::noinline]] void add_pairs(const std::byte* codes, const int16_t* values, int count,
                                 __m256i (&out)[R][2]) {
  __m256i acc[R][2];
  for (int r = 0; r < R; ++r) acc[r][0] = acc[r][1] = _mm256_setzero_si256();
  const std::byte* const end = codes + count * kPanelRows * 4;
#pragma GCC unroll 4
  for (; codes != end; codes += kPanelRows * 4, values += 2) {
    __m256i low = load_words(codes, 0);
    __m256i high = load_words(codes, kLanes);
    keep(low);
    keep(high);
    for (int r = 0; r < R; ++r) {
      const __m256i value = pair_of(values + r * sizeof(FixedBlock) / sizeof(int16_t), 0);
      acc[r][0] = _mm256_add_epi32(acc[r][0], _mm256_madd_epi16(low, value));
      acc[r][1] = _mm256_add_epi32(acc[r][1], _mm256_madd_epi16(high, value));
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int j = 0; j < 2; ++j) out[r][j] = acc[r][j];
  }
}

template <DType kType, int R>
[[gnu::noinline]] void multiply_read(const CodeBlock& block, const ReadBlock<kType>& read,
                                     const FixedBlock* x, float* total) {
  constexpr int V = 2;
  constexpr int kPairs = kGroupSize<kType> / 2;
  for (int first = 0; first < kPanelRows; first += V * kLanes) {
    GroupSums<kType, R, V> sums;
    for (int group = 0; group < kGroups<kType>; ++group) {
      __m256i acc[R][V];
      add_pairs<R>(read.pairs + group * kPairs * kPanelRows * 4 + 4 * first,
                   x->values + group * kGroupSize<kType>, kPairs, acc);
      for (int j = 0; j < V; ++j) {
        const int at = group * kPanelRows + first + kLanes * j;
        const __m256 scale = _mm256_loadu_ps(read.scales + at);
        for (int r = 0; r < R; ++r) sums.add(r, j, acc[r][j], scale);
        if constexpr (kHasMinima<kType>) {
          const __m256 minimum = _mm256_loadu_ps(read.minima + at);
          for (int r = 0; r < R; ++r) sums.add_minimum(r, j, x[r], group, minimum);
        }
      }
    }
    sums.finish(block, x, first, total);
  }
}

// pass<R>(rows before it) over `rows` in passes as even as may be of at most kMost, which four bounds.
template <int kMost, class Pass>
void in_passes(int rows, const Pass& pass) {
  int before = 0;
  for (int passes = (rows + kMost - 1) / kMost; passes > 0; --passes) {
    const int count = (rows - before + passes - 1) / passes;
    if (count == 1) pass.template operator()<1>(before);
    if (count == 2) pass.template operator()<2>(before);
    if (count == 3) pass.template operator()<3>(before);
    if constexpr (kMost > 3) {
      if (count == 4) pass.template operator()<4>(before);
    }
    before += count;
  }
}

// Up to as many rows, reading codes again costs less than keeping them. Codes of six bits take twice as long.
template <DType kType>
constexpr int kCodeRows = kType == DType::kQ4_K ? 6 : 2;

template <DType kType>
void multiply_block(const CodeBlock& block, const FixedBlock* x, int rows, float* scratch, float* total) {
  if (rows <= kCodeRows<kType>) {
    return in_passes<(kCodeRows<kType> < 3 ? kCodeRows<kType> : 3)>(rows, [&]<int R>(int before) {
      multiply_codes<kType, R>(block, x + before, total + before * kPanelRows);
    });
  }
  const ReadBlock<kType> read(block, scratch);
  in_passes<4>(rows, [&]<int R>(int before) {
    multiply_read<kType, R>(block, read, x + before, total + before * kPanelRows);
  });
}

}  // namespace
}  // namespace llmservice::cpu
