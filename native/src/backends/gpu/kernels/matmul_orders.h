// Products by the order of the weights' tiles, as matmul.h promises them. What lies in the workspace after
// the counters is each one's own.
#pragma once

#include "backends/gpu/kernels/matmul.h"

namespace llmservice::gpu {

int64_t swizzled_workspace(const DeviceMatrix&, int64_t rows);
Launches swizzled_matmul(const DeviceMatrix&, const float* x, int64_t rows, std::byte* workspace, float* out);

int64_t fragments_workspace(const DeviceMatrix&, int64_t rows);
Launches fragments_matmul(const DeviceMatrix&, const float* x, int64_t rows, std::byte* workspace,
                          float* out);

}  // namespace llmservice::gpu
