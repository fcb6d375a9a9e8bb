// The AVX-512 instruction family (F, BW, VL, DQ). Compiled with its flags where the target is x86-64;
// elsewhere the portable table stands in, and dispatch never names this one.
#include "backends/cpu/kernel_table.h"

#ifdef __AVX512F__
#include "backends/cpu/simd_avx512.h"
#endif

namespace llmservice::cpu {

const Kernels& avx512_kernels() {
#ifdef __AVX512F__
  static constexpr Kernels kernels = make_kernels<Avx512Lanes>("avx512");
  return kernels;
#else
  return portable_kernels();
#endif
}

}  // namespace llmservice::cpu
