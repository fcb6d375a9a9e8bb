#include "peaks.h"

#ifdef __AVX512BF16__
#include <immintrin.h>

namespace llmservice::bench {
namespace {

template <class Step>
float run(int64_t steps, Step step) {
  __m512 sums[16];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  for (int64_t i = 0; i < steps; ++i) {
    for (__m512& sum : sums) sum = step(sum);
  }
  for (int j = 1; j < 16; ++j) sums[0] = _mm512_add_ps(sums[0], sums[j]);
  return _mm512_reduce_add_ps(sums[0]);
}

}  // namespace

float run_float32_adds(int64_t steps) {
  const __m512 x = _mm512_set1_ps(0x1p-40f);
  return run(steps, [x](__m512 sum) { return _mm512_fmadd_ps(x, x, sum); });
}

float run_bf16_adds(int64_t steps) {
  const auto x = (__m512bh)_mm512_set1_epi32(0x2b802b80);  // 2^-40
  return run(steps, [x](__m512 sum) { return _mm512_dpbf16_ps(sum, x, x); });
}

}  // namespace llmservice::bench
#else

namespace llmservice::bench {

float run_float32_adds(int64_t) { return 0; }
float run_bf16_adds(int64_t) { return 0; }

}  // namespace llmservice::bench
#endif
