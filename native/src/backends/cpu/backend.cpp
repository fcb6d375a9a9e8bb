// Making a CPU backend, and its memory.
#include "backends/cpu/backend.h"

#include <cstring>

#include "backends/cpu/topology.h"

namespace llmservice {
namespace cpu {

CpuBackend::CpuBackend(const Kernels& kernels, int threads)
    : kernels_(kernels), pool_(threads), scratch_(threads) {}

std::unique_ptr<Buffer> CpuBackend::allocate(size_t bytes) {
  return std::make_unique<AnonymousMemory>(bytes);
}

void CpuBackend::upload(std::span<const std::byte> host, void* device) {
  if (!host.empty()) std::memcpy(device, host.data(), host.size());
}

std::span<float> CpuBackend::to_host(float* x, int64_t count) { return {x, static_cast<size_t>(count)}; }

std::unique_ptr<Matrix> CpuBackend::pack(std::span<const MatrixPart> parts, DType keep,
                                         const std::function<void(uint64_t)>& on_bytes) {
  // One family per matrix: whoever keeps weights in float32 wants activations in float32 too.
  const Activations rounded = kernels_.multiply_pairs != nullptr ? Activations::kBf16 : Activations::kFixed;
  const bool rounds = keep == DType::kBF16 && kernels_.rounds();
  return pack_matrix(parts, keep, rounds ? rounded : Activations::kFloat32, on_bytes, pool_, scratch_);
}

}  // namespace cpu

std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options) {
  const int share =
      options.ranks > 1 ? cpu::take_share_of_cores(options.rank, options.ranks) : cpu::usable_cores();
  const int threads = options.threads > 0 ? options.threads : share;
  return std::make_unique<cpu::CpuBackend>(cpu::select_kernels(options.isa), threads);
}

}  // namespace llmservice
