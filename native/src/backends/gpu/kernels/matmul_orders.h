// Products by the order of the weights' tiles, as matmul.h promises them. What lies in the workspace after
// the counters is each one's own.
#pragma once

#include "backends/gpu/kernels/matmul.h"

namespace llmservice::gpu {

// How a product with swizzled tiles is shared among blocks. All shapes give the same bits.
struct SwizzledShape {
  int32_t tokens;  // of a block: 8, 16, 32, 64, 128, 256
  bool whole;      // a block walks all K of its outputs, and does with 256; else a slice (swizzled_plan.h)
  // Blocks of up to 16 tokens that a multiprocessor has room for: with more, those of the next product bring
  // their first weights while this one's are at work, and each has a shorter ring.
  int32_t resident = 1;
};

int64_t swizzled_workspace(const DeviceMatrix&, int64_t rows);
Activations swizzled_activations(const DeviceMatrix&, int64_t rows, const ProductRoom&);
Launch swizzled_multiply(const DeviceMatrix&, int64_t rows, const ProductRoom&, float* out, int32_t resident);
int64_t swizzled_read_ahead(Launch& product, const DeviceMatrix& next, int64_t bytes);
// Both, in the caller's shape instead of the best one: for the tests that compare them.
Launches swizzled_matmul(const DeviceMatrix&, const SwizzledShape&, const float* x, int64_t rows,
                         const ProductRoom&, float* out);

int64_t fragments_workspace(const DeviceMatrix&, int64_t rows);
Activations fragments_activations(const DeviceMatrix&, const ProductRoom&);
Launch fragments_multiply(const DeviceMatrix&, int64_t rows, const ProductRoom&, float* out);

}  // namespace llmservice::gpu
