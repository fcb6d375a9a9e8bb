// The products of gemm_amx.cpp, by the model of tiles.
#include "backends/cpu/gemm_amx.h"

#ifdef __AVX512BF16__
#include "backends/cpu/tile_model_avx512bf16.h"
#include "backends/cpu/tile_products_avx512bf16.h"

namespace llmservice::cpu {

void multiply_modelled_tiles(const PanelView& panel, const PairRows& x, int rows, float* scratch,
                             float* total) {
  if (takes_tiles(panel.dtype)) return multiply_by_tiles<ModelTiles>(panel, x, rows, scratch, total);
  avx512bf16_kernels().multiply_pairs(panel, x, rows, scratch, total);
}

}  // namespace llmservice::cpu
#endif
