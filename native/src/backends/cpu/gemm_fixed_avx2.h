// What the family avx2 has of Kernels for products in fixed point; there where the target is x86-64.
#pragma once

#include "backends/cpu/kernels.h"

namespace llmservice::cpu {

void multiply_fixed(const PanelView& panel, const FixedRows& x, int rows, float* scratch, float* total);
void fix_block(const float* x, FixedBlock* out);

}  // namespace llmservice::cpu
