// The products of the portable instruction family.
#include "backends/cpu/gemm_kernel.h"
#include "backends/cpu/simd_portable.h"

namespace llmservice::cpu {

template void multiply_panel<PortableLanes>(const PanelView&, const float*, int64_t, int, float*, float*);

}  // namespace llmservice::cpu
