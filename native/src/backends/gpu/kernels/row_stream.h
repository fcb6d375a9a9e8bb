// How a block goes over a row in memory: many loads under way before the first value is used.
#pragma once

#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

// Threads of every block that goes over rows so.
constexpr uint32_t kRowThreads = 256;

// Values that a thread asks for before it uses the first. One by one each would wait for its own: a store
// between two loads keeps them in order, and those of other devices take a microsecond to come.
constexpr int kAtOnce = 5;

// use(i, load(i)) for this thread's share of [begin, end), each a block's width after the one before.
template <class Load, class Use>
__device__ __forceinline__ void stream(int64_t begin, int64_t end, const Load& load, const Use& use) {
  constexpr int64_t step = kRowThreads;
  for (int64_t first = begin + threadIdx.x; first < end; first += kAtOnce * step) {
    decltype(load(first)) loaded[kAtOnce];
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      const int64_t i = first + n * step;
      if (i < end) loaded[n] = load(i);
    }
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      const int64_t i = first + n * step;
      if (i < end) use(i, loaded[n]);
    }
  }
}

}  // namespace llmservice::gpu
