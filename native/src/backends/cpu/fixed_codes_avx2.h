// Codes of a K block of a panel of Q4_K or Q6_K as pairs of 16-bit numbers, and the small numbers that its
// groups of columns share. Include only from *avx2*.cpp, which alone are compiled for that family.
#pragma once

#include <immintrin.h>

#include "backends/cpu/block_bytes.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/packed_blocks.h"

namespace llmservice::cpu {
namespace {

constexpr int kLanes = 8;
constexpr int kEight = 8;  // columns of a word of codes, of which i and i + 4 are pairs

template <DType kType>
constexpr int kGroupSize = panel_form(kType).groups == 16 ? 16 : 32;
template <DType kType>
constexpr int kGroups = kDepthBlock / kGroupSize<kType>;
template <DType kType>
constexpr bool kHasMinima = panel_form(kType).halves == 2;

// Where a K block of a panel lies. Blocks of the type are two K blocks.
struct CodeBlock {
  const std::byte* weights;
  const std::byte* shared;
  int first_group;  // of the type's block

  template <DType kType>
  static CodeBlock of(const PanelView& panel, int64_t block) {
    const PanelPlace place{panel, block, 0};
    return {place.weights(kPanelRows / 2), shared_of<kType>(place),
            static_cast<int>(block % 2) * kGroups<kType>};
  }
};

inline __m256i load_words(const std::byte* row, int output) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + 4 * output));
}
inline __m256 load_small(const std::byte* bytes, int output, bool is_signed) {
  const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + output));
  return _mm256_cvtepi32_ps(is_signed ? _mm256_cvtepi8_epi32(eight) : _mm256_cvtepu8_epi32(eight));
}
inline __m256 load_half(const std::byte* halves, int output) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + 2 * output)));
}

// Has memory bring what the same group shares of the type's next block.
template <DType kType, int kLocality>
[[gnu::always_inline]] inline void fetch_shared(const CodeBlock& block, int group) {
  const std::byte* const next = block.shared + shared_bytes(kType);
  const std::byte* const scales = next + shared_group(kType, block.first_group + group);
  for (int line = 0; line < panel_form(kType).group_bytes; ++line)
    __builtin_prefetch(scales + line * kPanelRows, 0, kLocality);
  if constexpr (panel_form(kType).high_bits > 0) {
    const std::byte* const high = next + shared_high(kType, block.first_group + group);
    for (int line = 0; line < 4 * kPanelRows; line += 64) __builtin_prefetch(high + line, 0, kLocality);
  }
}

// Four pairs of codes of eight columns, as numbers from 0 in 16 bits each.
struct FourPairs {
  __m256i at[4];
};

template <DType kType>
[[gnu::always_inline]] inline FourPairs read_codes(const CodeBlock& block, int group, int eight, int output) {
  constexpr int kEights = kGroupSize<kType> / kEight;
  const __m256i words = load_words(block.weights + (group * kEights + eight) * 4 * kPanelRows, output);
  if constexpr (kType == DType::kQ4_K) {
    const __m256i low = _mm256_set1_epi16(0x0f);
    return {{_mm256_and_si256(words, low), _mm256_and_si256(_mm256_srli_epi16(words, 4), low),
             _mm256_and_si256(_mm256_srli_epi16(words, 8), low), _mm256_srli_epi16(words, 12)}};
  } else {
    const __m256i high = load_words(block.shared + shared_high(kType, block.first_group + group), output);
    const auto join = [](__m256i four, __m256i two) {
      return _mm256_or_si256(_mm256_and_si256(four, _mm256_set1_epi8(0x0f)),
                             _mm256_and_si256(two, _mm256_set1_epi8(0x30)));
    };
    const __m256i even = join(words, eight == 0 ? high : _mm256_slli_epi16(high, 4));
    const __m256i odd = join(_mm256_srli_epi16(words, 4),
                             eight == 0 ? _mm256_slli_epi16(high, 2) : _mm256_srli_epi16(high, 2));
    const __m256i byte = _mm256_set1_epi16(0xff);
    return {{_mm256_and_si256(even, byte), _mm256_and_si256(odd, byte), _mm256_srli_epi16(even, 8),
             _mm256_srli_epi16(odd, 8)}};
  }
}

}  // namespace
}  // namespace llmservice::cpu
