// The products of the AVX-512 instruction family; nothing where it is not compiled for.
#ifdef __AVX512F__
#include "backends/cpu/gemm_kernel.h"
#include "backends/cpu/simd_avx512.h"

namespace llmservice::cpu {

template void multiply_panel<Avx512Lanes>(const PanelView&, const float*, int64_t, int, float*, float*);

}  // namespace llmservice::cpu
#endif
