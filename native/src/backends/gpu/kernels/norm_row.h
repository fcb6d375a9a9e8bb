// The second half of a norm over a row by one block, whose threads have each summed the squares of the values
// that they read: shared by the norms that first add something.
#pragma once

#include <cmath>

#include "backends/gpu/kernels/reduce.h"
#include "ops/ops.h"

namespace llmservice::gpu {

__device__ __forceinline__ bool is_finite(float x) { return fabsf(x) <= 3.402823466e38f; }

// out (dim) = x / rms(x) · weight; x (dim) as this thread wrote or read it. All threads of the block call it.
// marks: as Backend::add_rms_norm has it, for this row.
__device__ __forceinline__ void norm_row(const float* x, float squares, const float* weight, float eps,
                                         int64_t dim, float* out, int32_t* first, int32_t place) {
  squares = reduce_block<Sum>(squares);
  const float scale = 1.0f / sqrtf(squares / static_cast<float>(dim) + eps);
  // A finite sum has finite terms; one that is not may only have overflown.
  bool sound = true;
  if (first != nullptr && !is_finite(squares)) {
    float faulty = 0;
    for (int64_t i = threadIdx.x; i < dim; i += blockDim.x) faulty += is_finite(x[i]) ? 0.0f : 1.0f;
    sound = reduce_block<Sum>(faulty) == 0;
    if (!sound && threadIdx.x == 0 && *first == 0) *first = place;
  }
  for (int64_t i = threadIdx.x; i < dim; i += blockDim.x) {
    const float value = x[i] * scale * weight[i];
    out[i] = value;
    // Whoever finds one writes the same.
    if (first != nullptr && sound && !is_finite(value) && *first == 0) *first = place + 1;
  }
}

}  // namespace llmservice::gpu
