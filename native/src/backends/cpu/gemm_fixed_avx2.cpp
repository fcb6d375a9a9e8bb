// Products in fixed point of the AVX2 instruction family: VPMADDWD adds two products of 16 bits where a float
// instruction adds one, and codes need no conversion. Nothing where it is not compiled for.
#ifdef __AVX2__
#include "backends/cpu/gemm_fixed_avx2.h"

#include <cmath>
#include <cstdlib>

#include "backends/cpu/fixed_products_avx2.h"

namespace llmservice::cpu {
namespace {

template <DType kType>
void multiply_blocks(const PanelView& panel, const FixedRows& x, int rows, float* scratch, float* total) {
  for (int64_t b = 0; b * kDepthBlock < panel.depth; ++b) {
    multiply_block<kType>(CodeBlock::of<kType>(panel, b), x.block(b), rows, scratch, total);
  }
}

// The largest magnitude of 128; infinity if one is not finite.
float largest_of(const float* x) {
  const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
  __m256i most = _mm256_setzero_si256();
  for (int i = 0; i < kDepthBlock; i += kLanes) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    most = _mm256_max_epi32(most, _mm256_and_si256(bits, magnitude));  // of magnitudes as of their bits
  }
  alignas(32) int32_t lanes[kLanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), most);
  int32_t largest = 0;
  for (const int32_t each : lanes) largest = std::max(largest, each);
  largest = std::min(largest, 0x7f800000);
  float out;
  std::memcpy(&out, &largest, sizeof out);
  return out;
}

}  // namespace

void multiply_fixed(const PanelView& panel, const FixedRows& x, int rows, float* scratch, float* total) {
  switch (panel.dtype) {
    case DType::kQ4_K:
      return multiply_blocks<DType::kQ4_K>(panel, x, rows, scratch, total);
    case DType::kQ6_K:
      return multiply_blocks<DType::kQ6_K>(panel, x, rows, scratch, total);
    default:
      std::abort();  // takes_fixed() has no other
  }
}

void fix_block(const float* x, FixedBlock* out) {
  // Smaller ones, whose steps would not be normal numbers, count as zero.
  constexpr float kSmallest = 0x1p-110f;
  constexpr float kMost = 32767;
  const float largest = largest_of(x);
  const bool is_zero = largest < kSmallest;
  const bool is_finite = std::isfinite(largest);
  // Of what is not finite every output shall be, too.
  out->scale = !is_finite ? NAN : is_zero ? 0.0f : largest / kMost;
  const __m256 steps = _mm256_set1_ps(kMost / (is_zero ? 1.0f : largest));
  const __m256i all = _mm256_set1_epi32(is_zero || !is_finite ? 0 : -1);
  // Of each eight columns 0, 4, 1, 5, 2, 6, 3, 7.
  const __m128i places = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
  for (int i = 0; i < kDepthBlock; i += kLanes) {
    const __m256i numbers =
        _mm256_and_si256(_mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i), steps)), all);
    const __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256(numbers, 1));
    _mm_store_si128(reinterpret_cast<__m128i*>(out->values + i), _mm_shuffle_epi8(words, places));
  }
  for (int i = 0; i < kBlockSums; ++i) {
    int32_t sum = 0;
    for (int k = 0; k < kSumColumns; ++k) sum += out->values[i * kSumColumns + k];
    out->sums[i] = sum;
  }
  for (int i = 0; i < kBlockSums / 2; ++i)
    out->group_sums[i] = static_cast<float>(out->sums[2 * i] + out->sums[2 * i + 1]);
}

}  // namespace llmservice::cpu
#endif
