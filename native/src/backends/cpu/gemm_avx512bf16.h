// What the family avx512bf16 has of Kernels for products of pairs; there where the target is x86-64.
#pragma once

#include "backends/cpu/kernels.h"

namespace llmservice::cpu {

void multiply_pairs(const PanelView& panel, const PairRows& x, int rows, float* scratch, float* total);
void round_block(const float* x, int count, PairOrder order, uint16_t* out, float* sums);

}  // namespace llmservice::cpu
