// Puts the splits of rows together in their order, behind the blocks that summed them up
// (attention_kernel.h); then what comes behind attention: a gate of each column, and the records that a
// product reads (quantize.h).
#pragma once

#include "backends/gpu/kernels/attention.h"
#include "backends/gpu/kernels/attention_kernel.h"

namespace llmservice::gpu {

// Of `segments` segments. `to` null: no product reads the result.
Launch combine_splits(const AttentionWork&, int32_t segments, const HeadGates&, const Activations* to);

}  // namespace llmservice::gpu
