// Copies from global to shared memory that run alongside the computation:
//
//   copy_async(shared, global)     16 bytes, both on 16 bytes
//   commit_copies()                ends a group of them
//   wait_copies<n>()               until all of the thread's groups but its last n have landed
#pragma once

#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {

#if defined(__CUDACC__)

__device__ __forceinline__ void copy_async(float* shared, const float* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<uint32_t>(__cvta_generic_to_shared(shared))),
               "l"(global)
               : "memory");
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLast>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLast) : "memory");
}

#elif defined(__HIPCC__) || defined(LLMSERVICE_GPU_HOST)

__device__ __forceinline__ void copy_async(float* shared, const float* global) {
  for (int i = 0; i < 4; ++i) shared[i] = global[i];
}
__device__ __forceinline__ void commit_copies() {}
template <int kLast>
__device__ __forceinline__ void wait_copies() {}

#endif

}  // namespace llmservice::gpu
