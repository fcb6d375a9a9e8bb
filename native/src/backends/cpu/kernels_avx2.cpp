// The AVX2 instruction family (with FMA and F16C). Compiled with its flags where the target is x86-64;
// elsewhere the portable table stands in, and dispatch never names this one.
#include "backends/cpu/kernel_table.h"

#ifdef __AVX2__
#include "backends/cpu/gemm_fixed_avx2.h"
#include "backends/cpu/simd_avx2.h"
#endif

namespace llmservice::cpu {

const Kernels& avx2_float32_kernels() {
#ifdef __AVX2__
  static constexpr Kernels kernels = make_kernels<Avx2Lanes>("avx2");
  return kernels;
#else
  return portable_kernels();
#endif
}

const Kernels& avx2_kernels() {
#ifdef __AVX2__
  static const Kernels kernels = [] {
    Kernels family = avx2_float32_kernels();
    family.multiply_fixed = multiply_fixed;
    family.fix_block = fix_block;
    return family;
  }();
  return kernels;
#else
  return portable_kernels();
#endif
}

}  // namespace llmservice::cpu
