// Products by AMX tiles as the family amx has them of Kernels, and the same by the model of tiles.
#pragma once

#include "backends/cpu/kernels.h"

namespace llmservice::cpu {

void multiply_tiles(const PanelView& panel, const PairRows& x, int rows, float* scratch, float* total);
void multiply_modelled_tiles(const PanelView& panel, const PairRows& x, int rows, float* scratch,
                             float* total);

}  // namespace llmservice::cpu
