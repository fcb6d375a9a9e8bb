// Products by the tiles of AMX.
#include "backends/cpu/gemm_amx.h"

#ifdef __AMX_BF16__
#include "backends/cpu/tile_products_avx512bf16.h"

namespace llmservice::cpu {

void multiply_tiles(const PanelView& panel, const PairRows& x, int rows, float* scratch, float* total) {
  if (takes_tiles(panel.dtype)) return multiply_by_tiles<HardwareTiles>(panel, x, rows, scratch, total);
  avx512bf16_kernels().multiply_pairs(panel, x, rows, scratch, total);
}

}  // namespace llmservice::cpu
#endif
