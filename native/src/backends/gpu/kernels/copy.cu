#include "backends/gpu/kernels/copy.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::gpu {
namespace {

constexpr uint32_t kThreads = 256;

__global__ void __launch_bounds__(kThreads) copy_kernel(const uint32_t* from, uint32_t* to, int64_t words) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  let_next_start();
  wait_for_previous();
  if (i < words) to[i] = from[i];
}

}  // namespace

Launch copy_bytes(const std::byte* from, std::byte* to, int64_t bytes) {
  const int64_t words = bytes / 4;
  return make_launch("copy_bytes", copy_kernel, {static_cast<uint32_t>((words + kThreads - 1) / kThreads)},
                     kThreads, 0, reinterpret_cast<const uint32_t*>(from), reinterpret_cast<uint32_t*>(to),
                     words);
}

}  // namespace llmservice::gpu
