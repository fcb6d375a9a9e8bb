// The AVX-512 BF16 instruction family: that of AVX-512 but for products of pairs (VDPBF16PS; VPERMI2B of VBMI
// for FP8), those of attention over keys and values in BF16 among them. Compiled with its flags where the
// target is x86-64; elsewhere dispatch never names it.
#include "backends/cpu/kernels.h"

#ifdef __AVX512BF16__
#include "backends/cpu/attention_kernel.h"
#include "backends/cpu/attention_pairs_avx512bf16.h"
#include "backends/cpu/gemm_avx512bf16.h"

namespace llmservice::cpu {
namespace {

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
