// Whether this machine's tiles can be used, and compute as the family amx says.
#pragma once

#include "backends/cpu/kernels.h"

namespace llmservice::cpu {

// AMX with BF16, which Linux lets this process use, and whose products have the bits of their model. Asked
// once for a process; the line on stderr says why tiles that are there stay unused.
bool has_tiles();

// Whether two kernels give the same bits on products in which each order of sums gives others: BF16 and FP8,
// whole and partial tiles, numbers below 2^-126 among them.
bool give_same_bits(decltype(Kernels::multiply_pairs) one, decltype(Kernels::multiply_pairs) other);

}  // namespace llmservice::cpu
