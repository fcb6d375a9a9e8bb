// KV that goes from one GPU to another through the host.
#include "backends/gpu/backend.h"
#include "transfer_support.h"

namespace llmservice::testing {
namespace {

class TransferOnGpu : public Transfers {
 protected:
  std::unique_ptr<Backend> backend() const override {
    return std::make_unique<gpu::GpuBackend>(gpu::GpuOptions{.device = 0});
  }
};

TEST_F(TransferOnGpu, GivesTheSameBits) {
  write_attention();
  EngineOptions fp8 = options(std::nullopt);
  fp8.kv_dtype = DType::kF8E4M3;
  expect_the_same_bits(fp8);
}

TEST_F(TransferOnGpu, GivesTheSameBitsWithASnapshot) {
  write_hybrid();
  expect_the_same_bits(options(std::nullopt));
}

}  // namespace
}  // namespace llmservice::testing
