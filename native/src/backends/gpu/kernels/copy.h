// Copies within the device.
#pragma once

#include "backends/gpu/launch.h"

namespace llmservice::gpu {

// `bytes`, `from` and `to`: multiples of 4.
Launch copy_bytes(const std::byte* from, std::byte* to, int64_t bytes);

}  // namespace llmservice::gpu
