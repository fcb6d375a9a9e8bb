// Runs of floats that are loaded and stored at once.
#pragma once

#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

template <int kCount>
struct alignas(sizeof(float) * kCount) Floats {
  float v[kCount];
};
using Float4 = Floats<4>;

template <int kCount>
__device__ __forceinline__ Floats<kCount> load_floats(const float* from) {
  return *reinterpret_cast<const Floats<kCount>*>(from);
}
template <int kCount>
__device__ __forceinline__ void store_floats(float* to, const Floats<kCount>& values) {
  *reinterpret_cast<Floats<kCount>*>(to) = values;
}

// Of `there` values that begin at `from`, the first kCount; zeros for those that are not there.
template <int kCount>
__device__ __forceinline__ Floats<kCount> load_some(const float* from, int64_t there) {
  Floats<kCount> values;
#pragma unroll
  for (int i = 0; i < kCount; ++i) values.v[i] = i < there ? from[i] : 0.0f;
  return values;
}
template <int kCount>
__device__ __forceinline__ void store_some(float* to, int64_t there, const Floats<kCount>& values) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (i < there) to[i] = values.v[i];
  }
}

}  // namespace llmservice::gpu
