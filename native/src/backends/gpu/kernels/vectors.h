// Runs of floats that are loaded and stored at once.
#pragma once

#include <initializer_list>

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

// The four columns from `col` on of a row of `width`: zeros are loaded and nothing is stored beyond it.
// kWhole: each such quad is inside or outside as a whole, on a border of 16 bytes.
template <bool kWhole>
__device__ __forceinline__ Float4 load_quad(const float* row, int64_t col, int64_t width) {
  if constexpr (!kWhole) return load_some<4>(row + col, width - col);
  return col < width ? load_floats<4>(row + col) : Float4{};
}
template <bool kWhole>
__device__ __forceinline__ void store_quad(float* row, int64_t col, int64_t width, const Float4& values) {
  if constexpr (!kWhole) return store_some(row + col, width - col, values);
  if (col < width) store_floats(row + col, values);
}

// Chooses kWhole for rows at these addresses, which lie multiples of `width` apart.
template <class Choose>
auto choose_quads(int64_t width, std::initializer_list<const float*> rows, Choose choose) {
  bool whole = width % 4 == 0;
  for (const float* const row : rows)
    whole = whole && reinterpret_cast<uintptr_t>(row) % alignof(Float4) == 0;
  return whole ? choose.template operator()<true>() : choose.template operator()<false>();
}

}  // namespace llmservice::gpu
