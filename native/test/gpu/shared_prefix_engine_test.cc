// The same on the GPU backend, whose kernels find their tiles by the rows of the step.
#include "backends/gpu/backend.h"
#include "shared_prefix_support.h"

namespace llmservice::testing {
namespace {

class SharedPrefixOnGpu : public SharedPrefixTest {
 protected:
  void SetUp() override {
    load(std::make_unique<gpu::GpuBackend>(gpu::GpuOptions{.device = 0}), DType::kBF16);
  }
};

TEST_F(SharedPrefixOnGpu, GivesTheSameBits) { expect_same_bits_from_blocks_and_states(); }

TEST_F(SharedPrefixOnGpu, SavesChangeNoNeighbour) { expect_saves_to_change_no_neighbour(); }

}  // namespace
}  // namespace llmservice::testing
