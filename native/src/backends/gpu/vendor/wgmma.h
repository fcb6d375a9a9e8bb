// Hopper's warpgroup products and bulk copies, where there are such.
#pragma once

#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

#if defined(LLMSERVICE_GPU_HIP)
constexpr bool kHasWgmma = false;
#else
constexpr bool kHasWgmma = kWarpSize == 32;
#endif

}  // namespace llmservice::gpu
