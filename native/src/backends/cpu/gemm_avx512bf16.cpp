// Products of pairs of BF16, which compile as long as all else of their family.
#include "backends/cpu/gemm_avx512bf16.h"

#ifdef __AVX512BF16__
#include "backends/cpu/code_pairs_avx512bf16.h"
#include "backends/cpu/pair_products_avx512bf16.h"

namespace llmservice::cpu {
namespace {

// How codes of a type become pairs.
template <DType kType>
auto pairs_of(const PairPlace& place) {
  if constexpr (kType == DType::kBF16) {
    return Bf16Pairs(place);
  } else if constexpr (kType == DType::kF8E4M3) {
    return Fp8Pairs(place);
  } else if constexpr (kType == DType::kF4E2M1 || has_table(kType)) {
    return TablePairs<kType>(place);
  } else if constexpr (kType == DType::kI8 || panel_form(kType).code_bits == 8) {
    return BytePairs<kType>(place);
  } else {
    return WordPairs<kType>(place);
  }
}

// Where the bits of codes that lie apart begin, of K block `block`.
template <DType kType>
const std::byte* high_bits_of(const PanelView& panel, int64_t block) {
  if constexpr (panel_form(kType).high_bits == 0) return nullptr;
  constexpr int64_t kColumns = block_layout(kType).columns;
  const int64_t before = kColumns > kDepthBlock ? block * kDepthBlock % kColumns : 0;
  return shared_of<kType>({panel, block, 0}) + shared_high(kType, before * panel_form(kType).high_bits / 32);
}

// scratch: a widened K block, then what its groups of columns share.
template <DType kType>
void multiply_panel_pairs(const PanelView& panel, const PairRows& x, int rows, float* scratch, float* total) {
  using Weights = decltype(pairs_of<kType>({}));
  constexpr bool kGrouped = has_groups<kType>();
  constexpr int64_t kBlockBytes = kDepthBlock * kPanelRows * code_bits(kType) / 8;
  float* const scales = scratch + kDepthBlock * kPanelRows / 2;
  for (int64_t b = 0; b * kDepthBlock < panel.depth; ++b) {
    const auto columns = static_cast<int>(std::min<int64_t>(panel.depth - b * kDepthBlock, kDepthBlock));
    PairBlock block{.weights = {panel.weights + b * kBlockBytes, high_bits_of<kType>(panel, b)},
                    .x = x.block(b),
                    .x_sums = x.block_sums(b),
                    .columns = columns,
                    .groups = {},
                    .total = total,
                    // After a panel's last block the next panel's first or nothing: a prefetch never faults.
                    .next = panel.weights + (b + 1) * kBlockBytes,
                    .next_shared = panel.shared + shared_bytes(kType, (b + 1) * kDepthBlock)};
    if constexpr (kGrouped) {
      block.groups = load_scales<kType>(panel, b, columns, Weights::kBias, scales);
    } else if (panel.scales != nullptr) {
      block.groups.scales = panel.scales + b * panel.scale_step;
    }
    if (rows <= Weights::kFewRows) {
      multiply_rows<Weights, kGrouped>(block, rows, kBlockBytes);
    } else {
      widen_block<Weights>(block.weights, columns, scratch);
      block.weights = {reinterpret_cast<const std::byte*>(scratch)};
      multiply_rows<Bf16Pairs, kGrouped>(block, rows, kBlockBytes);
    }
  }
}

// Of each eight columns 0, 4, 1, 5, 2, 6, 3, 7, where those are pairs.
__m512i paired(__m512i columns, PairOrder order) {
  if (order == PairOrder::kAdjacent) return columns;
  const __m128i places = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
  return _mm512_shuffle_epi8(columns, _mm512_broadcast_i32x4(places));
}

}  // namespace

void multiply_pairs(const PanelView& panel, const PairRows& x, int rows, float* scratch, float* total) {
  const auto multiply = [&]<DType kType>() { multiply_panel_pairs<kType>(panel, x, rows, scratch, total); };
  switch (panel.dtype) {
    case DType::kBF16:
      return multiply.operator()<DType::kBF16>();
    case DType::kF8E4M3:
      return multiply.operator()<DType::kF8E4M3>();
    case DType::kI8:
      return multiply.operator()<DType::kI8>();
    case DType::kF4E2M1:
      return multiply.operator()<DType::kF4E2M1>();
    case DType::kQ8_0:
      return multiply.operator()<DType::kQ8_0>();
    case DType::kQ4_0:
      return multiply.operator()<DType::kQ4_0>();
    case DType::kQ4_1:
      return multiply.operator()<DType::kQ4_1>();
    case DType::kQ4_K:
      return multiply.operator()<DType::kQ4_K>();
    case DType::kQ5_0:
      return multiply.operator()<DType::kQ5_0>();
    case DType::kQ5_1:
      return multiply.operator()<DType::kQ5_1>();
    case DType::kQ5_K:
      return multiply.operator()<DType::kQ5_K>();
    case DType::kQ2_K:
      return multiply.operator()<DType::kQ2_K>();
    case DType::kQ3_K:
      return multiply.operator()<DType::kQ3_K>();
    case DType::kQ6_K:
      return multiply.operator()<DType::kQ6_K>();
    case DType::kIQ4_NL:
      return multiply.operator()<DType::kIQ4_NL>();
    case DType::kIQ4_XS:
      return multiply.operator()<DType::kIQ4_XS>();
    case DType::kMXFP4:
      return multiply.operator()<DType::kMXFP4>();
    case DType::kInt4:
      return multiply.operator()<DType::kInt4>();
    case DType::kInt8:
      return multiply.operator()<DType::kInt8>();
    case DType::kF32:
    case DType::kF16:
      return;  // not exact in BF16
  }
}

void round_block(const float* x, int count, PairOrder order, uint16_t* out, float* sums) {
  for (int i = 0; i < kDepthBlock; i += 32) {
    const __m512 low = _mm512_maskz_loadu_ps(Avx512Lanes::lanes_of(count, i / 16), x + i);
    const __m512 high = _mm512_maskz_loadu_ps(Avx512Lanes::lanes_of(count, i / 16 + 1), x + i + 16);
    const auto rounded = (__m512i)_mm512_cvtne2ps_pbh(high, low);
    _mm512_storeu_si512(out + i, paired(rounded, order));
    if (sums == nullptr) continue;
    const auto widened = [](__m256i halves) {
      return Avx512Lanes{_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16))};
    };
    sums[i / kSumColumns] = sum(widened(_mm512_castsi512_si256(rounded)));
    sums[i / kSumColumns + 1] = sum(widened(_mm512_extracti64x4_epi64(rounded, 1)));
  }
}

}  // namespace llmservice::cpu
#endif
