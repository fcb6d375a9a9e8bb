// The portable instruction family: plain C++, any machine.
#include "backends/cpu/kernel_table.h"
#include "backends/cpu/simd_portable.h"

namespace llmservice::cpu {

const Kernels& portable_kernels() {
  static constexpr Kernels kernels = make_kernels<PortableLanes>("portable");
  return kernels;
}

}  // namespace llmservice::cpu
