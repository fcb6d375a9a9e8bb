// Engines on a device that fails or has little memory, which only the emulator does when asked.
#include "failures.h"
#include "gpu_engine_support.h"

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

INSTANTIATE_TEST_SUITE_P(Checkpoints, FailingDevice, kCheckpoints, name_of_checkpoint);

}  // namespace
}  // namespace llmservice::testing
