// The AMX instruction family: that of AVX-512 BF16 but for products by tiles, whose bits are their own. Its
// twin on the model of tiles runs wherever AVX-512 BF16 does. Elsewhere dispatch never names either.
#include "backends/cpu/gemm_amx.h"

namespace llmservice::cpu {

const Kernels& amx_kernels() {
#ifdef __AMX_BF16__
  static const Kernels kernels = [] {
    Kernels family = avx512bf16_kernels();
    family.isa = "amx";
    family.multiply_pairs = multiply_tiles;
    return family;
  }();
  return kernels;
#else
  return portable_kernels();
#endif
}

const Kernels& modelled_amx_kernels() {
#ifdef __AMX_BF16__
  static const Kernels kernels = [] {
    Kernels family = avx512bf16_kernels();
    family.isa = kModelledAmx;
    family.multiply_pairs = multiply_modelled_tiles;
    return family;
  }();
  return kernels;
#else
  return portable_kernels();
#endif
}

}  // namespace llmservice::cpu
