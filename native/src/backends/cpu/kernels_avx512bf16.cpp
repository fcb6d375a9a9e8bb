// The AVX-512 BF16 instruction family: that of AVX-512 but for products of pairs (VDPBF16PS; VPERMI2B of VBMI
// for FP8), those of attention over keys and values in BF16 among them. Compiled with its flags where the
// target is x86-64; elsewhere dispatch never names it.
//
// total = Σ over K blocks of 128, in order, of (chain over the block's pairs) · scale. Of a pair the second
// product is added first, then the first, each multiply-add rounded once; numbers below 2^-126 count as zero.
// How rows are cut into passes never shows in the bits.
#include "backends/cpu/kernels.h"

#ifdef __AVX512BF16__
#include <cstring>
#include <utility>

#include "backends/cpu/attention_kernel.h"
#include "backends/cpu/attention_pairs_avx512bf16.h"
#include "backends/cpu/pair_weights_avx512bf16.h"

namespace llmservice::cpu {
namespace {

// Up to as many rows, weights go from memory to registers, anew in each pass. More share a block of FP8 that
// is widened once.
constexpr int kFewRows = 16;

// One K block of a panel and the rows that it multiplies.
struct Block {
  const std::byte* weights;
  const uint16_t* x;  // (rows, 128)
  int pairs;
  const float* scales;    // (64) or null
  float* total;           // (rows, 64)
  const std::byte* next;  // what passes fetch meanwhile, each its share
};

// total (R, 64) += sums · scales; without scales a plain sum. Inlined: out of line, all sums would go through
// memory once more.
template <int R, int kSums>
[[gnu::always_inline]] inline void add_sums(const __m512 (&sums)[R][kSums], const float* scales,
                                            float* total) {
  if (scales == nullptr) {
    for (int r = 0; r < R; ++r) {
      for (int j = 0; j < kSums; ++j) {
        float* const to = total + r * kPanelRows + 16 * j;
        _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), sums[r][j]));
      }
    }
    return;
  }
  __m512 scale[kSums];
  for (int j = 0; j < kSums; ++j) scale[j] = _mm512_loadu_ps(scales + 16 * j);
  for (int r = 0; r < R; ++r) {
    for (int j = 0; j < kSums; ++j) {
      float* const to = total + r * kPanelRows + 16 * j;
      _mm512_storeu_ps(to, _mm512_fmadd_ps(sums[r][j], scale[j], _mm512_loadu_ps(to)));
    }
  }
}

// One sweep over a block runs at the rate of memory, which the machine fetches by itself, faster than by
// prefetches. Several sweeps leave it idle: kFetches has each of their steps fetch `fetched` bytes of what
// comes next into L2.
template <class W, int R, bool kFetches>
void multiply_pass(const Block& block, int64_t fetched) {
  constexpr int kHalves = R <= W::kWideRows ? 2 : 1;
  constexpr int kSums = 2 * kHalves;
  const W weights{};
  const std::byte* next = block.next;
  for (int half = 0; half < 2; half += kHalves) {
    __m512 acc[R][kSums];
    for (int r = 0; r < R; ++r) {
      for (int j = 0; j < kSums; ++j) acc[r][j] = _mm512_setzero_ps();
    }
    const std::byte* at = block.weights + half * W::kHalfBytes;
    for (int p = 0; p < block.pairs; ++p, at += 2 * W::kHalfBytes) {
      if constexpr (kFetches) {
        for (int line = 0; line < W::kHalfBytes; line += 64) __builtin_prefetch(next + line, 0, 2);
        next += kHalves * fetched;
      }
      __m512bh column[kSums];
      for (int h = 0; h < kHalves; ++h) {
        weights.load(at + h * W::kHalfBytes, column[2 * h], column[2 * h + 1]);
      }
      for (int r = 0; r < R; ++r) {
        int32_t pair;
        std::memcpy(&pair, block.x + r * kDepthBlock + 2 * p, sizeof pair);
        const auto value = (__m512bh)_mm512_set1_epi32(pair);
        for (int j = 0; j < kSums; ++j) acc[r][j] = _mm512_dpbf16_ps(acc[r][j], column[j], value);
      }
    }
    add_sums<R, kSums>(acc, block.scales != nullptr ? block.scales + 32 * half : nullptr,
                       block.total + 32 * half);
  }
}

template <class W, bool kFetches, int... R>
void multiply_pass_of(int rows, const Block& block, int64_t fetched, std::integer_sequence<int, R...>) {
  static constexpr void (*kPasses[])(const Block&, int64_t) = {multiply_pass<W, R + 1, kFetches>...};
  kPasses[rows - 1](block, fetched);
}

// In passes of rows as even as may be. next_bytes: of what they fetch meanwhile.
template <class W>
void multiply_rows(Block block, int rows, int64_t next_bytes) {
  if (rows <= W::kWideRows) {
    return multiply_pass_of<W, false>(rows, block, 0, std::make_integer_sequence<int, W::kWideRows>{});
  }
  int passes = (rows + W::kMaxRows - 1) / W::kMaxRows;
  const int64_t share = next_bytes / passes;
  for (; passes > 0; --passes, block.next += share) {
    const int count = (rows + passes - 1) / passes;
    // A pass has a step for each half of each pair.
    multiply_pass_of<W, true>(count, block, share / kDepthBlock,
                              std::make_integer_sequence<int, W::kMaxRows>{});
    block.x += count * kDepthBlock;
    block.total += count * kPanelRows;
    rows -= count;
  }
}

// The block's FP8 as BF16.
void widen_block(const std::byte* weights, int pairs, float* out) {
  const Fp8Pairs codes;
  auto* to = reinterpret_cast<std::byte*>(out);
  for (int half = 0; half < 2 * pairs; ++half, to += 128) {
    __m512bh low;
    __m512bh high;
    codes.load(weights + half * Fp8Pairs::kHalfBytes, low, high);
    _mm512_store_si512(to, (__m512i)low);
    _mm512_store_si512(to + 64, (__m512i)high);
  }
}

void multiply_pairs(const PanelView& panel, const PairRows& x, int rows, float* scratch, float* total) {
  const bool is_fp8 = panel.dtype == DType::kF8E4M3;
  const int64_t block_bytes = int64_t{kDepthBlock} * kPanelRows * (is_fp8 ? 1 : 2);
  for (int64_t b = 0; b * kDepthBlock < panel.depth; ++b) {
    const int64_t left = panel.depth - b * kDepthBlock;
    Block block{.weights = panel.weights + b * block_bytes,
                .x = x.data + b * x.block_step,
                .pairs = static_cast<int>(((left < kDepthBlock ? left : kDepthBlock) + 1) / 2),
                .scales = panel.scales != nullptr ? panel.scales + b * panel.scale_step : nullptr,
                .total = total,
                // After a panel's last block the next panel's first or nothing: a prefetch never faults.
                .next = panel.weights + (b + 1) * block_bytes};
    if (is_fp8 && rows <= kFewRows) {
      multiply_rows<Fp8Pairs>(block, rows, block_bytes);
      continue;
    }
    if (is_fp8) {
      widen_block(block.weights, block.pairs, scratch);
      block.weights = reinterpret_cast<const std::byte*>(scratch);
    }
    multiply_rows<Bf16Pairs>(block, rows, block_bytes);
  }
}

__mmask16 first_lanes(int n) { return static_cast<__mmask16>(n >= 16 ? 0xffff : n <= 0 ? 0 : (1 << n) - 1); }

void round_block(const float* x, int count, uint16_t* out) {
  for (int i = 0; i < kDepthBlock; i += 32) {
    const __m512 low = _mm512_maskz_loadu_ps(first_lanes(count - i), x + i);
    const __m512 high = _mm512_maskz_loadu_ps(first_lanes(count - i - 16), x + i + 16);
    _mm512_storeu_si512(out + i, (__m512i)_mm512_cvtne2ps_pbh(high, low));
  }
}

void attend_pairs(const AttentionTile& t) {
  if (t.shape->kv_dtype != DType::kBF16) return avx512_kernels().attend(t);
  attend<Avx512Lanes, PairProducts>(t);
}

void attend_split_pairs(const AttentionTile& t, int32_t begin, const SplitSums& sums) {
  if (t.shape->kv_dtype != DType::kBF16) return avx512_kernels().attend_split(t, begin, sums);
  attend_split<Avx512Lanes, PairProducts>(t, begin, sums);
}

}  // namespace

const Kernels& avx512bf16_kernels() {
  static const Kernels kernels = [] {
    Kernels family = avx512_kernels();
    family.isa = "avx512bf16";
    family.round_block = round_block;
    family.multiply_pairs = multiply_pairs;
    family.attend = attend_pairs;
    family.attend_split = attend_split_pairs;
    return family;
  }();
  return kernels;
}

}  // namespace llmservice::cpu
#else

namespace llmservice::cpu {

const Kernels& avx512bf16_kernels() { return portable_kernels(); }

}  // namespace llmservice::cpu
#endif
