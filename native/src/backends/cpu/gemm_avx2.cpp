// The products of the AVX2 instruction family; nothing where it is not compiled for.
#ifdef __AVX2__
#include "backends/cpu/gemm_kernel.h"
#include "backends/cpu/simd_avx2.h"

namespace llmservice::cpu {

template void multiply_panel<Avx2Lanes>(const PanelView&, const float*, int64_t, int, float*, float*);

}  // namespace llmservice::cpu
#endif
