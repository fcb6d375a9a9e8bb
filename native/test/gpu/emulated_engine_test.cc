// Engines on a device that fails, has little memory, or is a Hopper, which only the emulator is when asked.
#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/packing.h"
#include "backends/gpu/vendor/wgmma.h"
#include "failures.h"
#include "gpu_engine_support.h"
#include "ops_support.h"

namespace llmservice::testing {
namespace {

class FailingDevice : public GpuEngine {
 protected:
  void TearDown() override { gpu::emulated_device() = {}; }
};

TEST_P(FailingDevice, AFaultOfTheDeviceLosesTheSequencesAndNamesItself) {
  const auto engine = load_gpu();
  StepPlan plan;
  plan.admit = {request(0, 40, 4).admission};
  for (int32_t b = 0; b < kBlocksPerSlot; ++b) plan.blocks.push_back({0, b});
  plan.rows = {{0, 40}};
  gpu::emulated_device().launches_until_fault = 20;
  std::string message;
  EXPECT_EQ(failure_of([&] { engine->step(plan); }, &message), "DeviceFault");
  EXPECT_TRUE(contains(message, "unspecified launch failure"));
  gpu::emulated_device() = {};
  EXPECT_EQ(failure_of([&] { engine->step({}); }, &message), "EngineFault");
  EXPECT_TRUE(contains(message, "unspecified launch failure"));
  // A new engine on the same device starts afresh.
  EXPECT_EQ(run_one(*load_gpu(), request(0, 40, 4)).tokens.size(), 4u);
}

TEST_P(FailingDevice, WhatDoesNotFitIsRefusedByName) {
  gpu::emulated_device().memory = 256 << 10;
  std::string message;
  EXPECT_EQ(failure_of([&] { load_gpu(); }, &message), "ModelTooLarge");
  EXPECT_TRUE(contains(message, "kernel emulator has"));
}

// Its products run on wgmma, which warps of 64 lanes do not have.
class OnHopper : public GpuEngine {
 protected:
  void SetUp() override {
    gpu::emulated_device().major = 9;
    GpuEngine::SetUp();
  }
  void TearDown() override { gpu::emulated_device() = {}; }
};

TEST_P(OnHopper, SaysWhatTheReferenceSays) { expect_what_the_reference_says(); }

TEST_P(OnHopper, OthersAndCutsChangeNoBit) { expect_no_bit_to_change_with_others_and_cuts(); }

TEST_P(OnHopper, TuningOfProductsChangesNoBit) { expect_no_bit_to_change_with_tuning(); }

INSTANTIATE_TEST_SUITE_P(Checkpoints, FailingDevice, kCheckpoints, name_of_checkpoint);
INSTANTIATE_TEST_SUITE_P(Checkpoints, OnHopper, kCheckpoints, name_of_checkpoint);

TEST(HopperPacking, LaysOutExpertsAsTheirKernelsReadThem) {
  gpu::emulated_device().major = 9;
  gpu::GpuBackend backend({.device = 0, .graphs = 0});
  gpu::emulated_device() = {};
  const StoredMatrix stored = random_matrix(DType::kBF16, 64, 64, 1);
  const auto order = [](const Matrix& matrix) {
    return static_cast<const gpu::DeviceWeights&>(matrix).bands.front().matrix.order;
  };
  EXPECT_EQ(order(*pack(backend, stored)), gpu::tile_order(90));
  EXPECT_EQ(order(*pack_expert(backend, stored)), gpu::kExpertOrder);
}

}  // namespace
}  // namespace llmservice::testing
