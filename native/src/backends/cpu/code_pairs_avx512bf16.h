// Readers of weight pairs of block types (pair_weights_avx512bf16.h says what readers are): codes become
// BF16, exactly; scales and what is added apply to sums. Include only from *avx512bf16*.cpp, which alone are
// compiled for that family.
#pragma once

#include "backends/cpu/packed_blocks.h"
#include "backends/cpu/pair_weights_avx512bf16.h"

namespace llmservice::cpu {
namespace {

// Moves bit kFrom of each 32 to bit kTo.
template <int kFrom, int kTo>
__m512i moved(__m512i words) {
  if constexpr (kFrom > kTo) return _mm512_srli_epi32(words, kFrom - kTo);
  if constexpr (kFrom < kTo) return _mm512_slli_epi32(words, kTo - kFrom);
  return words;
}

// into | (words & mask); the first operand of the instruction is overwritten, so it is the one that goes.
inline __m512i with_bits(__m512i into, __m512i words, uint32_t mask) {
  return _mm512_ternarylogic_epi32(words, _mm512_set1_epi32(static_cast<int>(mask)), into, 0xea);
}

// Puts kBits from bit kFirst of each word into the low half, from kSecond into the high one, each from bit
// kTo on.
template <int kFirst, int kSecond, int kBits, int kTo>
__m512i with_both(__m512i into, __m512i words) {
  constexpr uint32_t kMask = ((1u << kBits) - 1) << kTo;
  if constexpr (kSecond - kFirst == 16) {
    return with_bits(into, moved<kFirst, kTo>(words), kMask | kMask << 16);
  } else {
    return with_bits(with_bits(into, moved<kFirst, kTo>(words), kMask), moved<kSecond, kTo + 16>(words),
                     kMask << 16);
  }
}

// Codes in words, of kBits bits each. A code becomes the highest bits of the mantissa of 2^kBits: a number
// that is larger by that (kBias), which what is added to sums makes up for.
template <DType kType>
class WordPairs {
  static constexpr PanelForm kForm = panel_form(kType);
  static constexpr int kBits = kForm.code_bits + kForm.high_bits;
  static constexpr int kWordColumns = 32 / kForm.code_bits;
  // Of a step: what share a word of high bits, if those are two, and what share a word of low ones.
  static constexpr int kColumns = kForm.high_bits == 2 ? 16 : kWordColumns;
  static constexpr int kWords = kColumns / kWordColumns;
  // Blocks of 32 columns have a shared part each, those of 256 one.
  static constexpr int64_t kHighStep =
      block_layout(kType).columns == 32 ? shared_bytes(kType) : 4 * kPanelRows;

 public:
  static constexpr int kStepPairs = kColumns / 2;
  static constexpr int64_t kHalfBytes = 128 * kWords;
  static constexpr int64_t kSharedBytes = shared_bytes(kType, kStepPairs);
  static constexpr bool kFetchesAlone = true;
  static constexpr int kFewRows = 16;
  static constexpr int kMaxRows = 8;
  static constexpr int kWideRows = kWords == 1 && kForm.high_bits == 0 ? 6 : 4;
  static constexpr float kBias = 1 << kBits;

  explicit WordPairs(const PairPlace& place) : place_(place) {}

  struct Step {
    __m512i low[kWords][2];
    __m512i high[2];
  };
  Step read(int64_t step, int64_t half) const {
    Step out;
    const std::byte* const at = place_.weights + step * 2 * kHalfBytes + half * 128;
    for (int word = 0; word < kWords; ++word) {
      for (int j = 0; j < 2; ++j) out.low[word][j] = _mm512_loadu_si512(at + word * 256 + j * 64);
    }
    if constexpr (kForm.high_bits > 0) {
      // The word of the step's first column, with that column's bits in its lowest.
      constexpr int kHighColumns = 32 / kForm.high_bits;
      const int64_t column = step * kColumns;
      const std::byte* const bits = place_.high + column / kHighColumns * kHighStep + half * 128;
      for (int j = 0; j < 2; ++j) {
        out.high[j] = _mm512_loadu_si512(bits + j * 64);
        if constexpr (kHighColumns > kColumns)
          out.high[j] = _mm512_srl_epi32(out.high[j], _mm_cvtsi64_si128(column % kHighColumns));
      }
    }
    return out;
  }
  // Columns i and i + 4 of eight.
  template <int kPair>
  void take(const Step& step, __m512bh& low, __m512bh& high) const {
    low = take_vector<kPair>(step, 0);
    high = take_vector<kPair>(step, 1);
  }

 private:
  template <int kPair>
  static __m512bh take_vector(const Step& step, int j) {
    constexpr int kFirst = kPair / 4 * 8 + kPair % 4;
    constexpr int kSecond = kFirst + 4;
    constexpr auto kLowBit = [](int column) { return column % kWordColumns * kForm.code_bits; };
    constexpr int kAt = 7 - kBits;  // a code's lowest bit in BF16
    __m512i pair = _mm512_set1_epi32((127 + kBits) << 7 | (127 + kBits) << 23);
    pair = with_both<kLowBit(kFirst), kLowBit(kSecond), kForm.code_bits, kAt>(
        pair, step.low[kFirst / kWordColumns][j]);
    if constexpr (kForm.high_bits > 0) {
      constexpr auto kHighBit = [](int column) { return high_shift(kForm.high_bits, column); };
      pair = with_both<kHighBit(kFirst), kHighBit(kSecond), kForm.high_bits, kAt + kForm.code_bits>(
          pair, step.high[j]);
    }
    return (__m512bh)pair;
  }

  PairPlace place_;
};

// Codes of four bits that stand for values of a table.
template <DType kType>
class TablePairs {
 public:
  static constexpr int kStepPairs = 4;
  static constexpr int64_t kHalfBytes = 128;
  static constexpr int64_t kSharedBytes = shared_bytes(kType, kStepPairs);
  static constexpr bool kFetchesAlone = true;
  static constexpr int kFewRows = 16;
  static constexpr int kMaxRows = 8;
  static constexpr int kWideRows = 4;
  static constexpr float kBias = 0;

  explicit TablePairs(const PairPlace& place) : at_(place.weights) {
    const __m512 values =
        kType == DType::kMXFP4 || kType == DType::kF4E2M1
            ? _mm512_setr_ps(0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6)
            : _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)kIq4Values)));
    second_ = _mm512_castps_si512(values);
    first_ = _mm512_srli_epi32(second_, 16);
  }

  struct Step {
    __m512i low, high;
  };
  Step read(int64_t step, int64_t half) const {
    const std::byte* const at = at_ + (2 * step + half) * kHalfBytes;
    return {_mm512_loadu_si512(at), _mm512_loadu_si512(at + 64)};
  }
  template <int kPair>
  void take(const Step& step, __m512bh& low, __m512bh& high) const {
    low = look_up<kPair>(step.low);
    high = look_up<kPair>(step.high);
  }

 private:
  // A permute reads the low four bits of each index only.
  template <int kPair>
  __m512bh look_up(__m512i words) const {
    const __m512i first = _mm512_permutexvar_epi32(_mm512_srli_epi32(words, 4 * kPair), first_);
    const __m512i second = _mm512_permutexvar_epi32(_mm512_srli_epi32(words, 4 * kPair + 16), second_);
    return (__m512bh)_mm512_or_si512(first, second);
  }

  const std::byte* at_;
  __m512i first_;   // BF16 of the table's values in the low halves
  __m512i second_;  // in the high ones
};

// Codes of a byte, unsigned ones of kInt8. A number that is exact in BF16 is the upper half of its float.
template <DType kType>
class BytePairs {
 public:
  static constexpr int kStepPairs = 4;
  static constexpr int64_t kHalfBytes = 256;
  static constexpr int64_t kSharedBytes = shared_bytes(kType, kStepPairs);
  static constexpr bool kFetchesAlone = true;
  static constexpr int kFewRows = 6;
  static constexpr int kMaxRows = 6;
  static constexpr int kWideRows = 6;
  static constexpr float kBias = 0;

  explicit BytePairs(const PairPlace& place) : at_(place.weights) {}

  using Step = const std::byte*;
  Step read(int64_t step, int64_t half) const { return at_ + step * 8 * kPanelRows + half * 32; }
  template <int kPair>
  void take(Step step, __m512bh& low, __m512bh& high) const {
    low = take_vector<kPair>(step);
    high = take_vector<kPair>(step + 16);
  }

 private:
  template <int kPair>
  static __m512bh take_vector(Step at) {
    const __m512i first = _mm512_srli_epi32(widened(at + kPair * kPanelRows), 16);
    return (__m512bh)with_bits(first, widened(at + (kPair + 4) * kPanelRows), 0xffff0000);
  }
  static __m512i widened(const std::byte* at) {
    const __m128i bytes = _mm_loadu_si128((const __m128i*)at);
    const __m512i codes = kType == DType::kInt8 ? _mm512_cvtepu8_epi32(bytes) : _mm512_cvtepi8_epi32(bytes);
    return _mm512_castps_si512(_mm512_cvtepi32_ps(codes));
  }

  const std::byte* at_;
};

}  // namespace
}  // namespace llmservice::cpu
