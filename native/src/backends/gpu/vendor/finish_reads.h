// finish_reads(): before one thread counts (count_up) that this block has read what another will write over.
// The block's threads have met at a barrier since, and use what they read: nothing was written that others
// must see, so that AMD's devices need no fence, which would write their L2 back.
#pragma once

#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

#if defined(LLMSERVICE_GPU_HIP)
__device__ __forceinline__ void finish_reads() {}
#else
__device__ __forceinline__ void finish_reads() { publish_block(); }
#endif

}  // namespace llmservice::gpu
