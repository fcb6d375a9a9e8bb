// The way from an engine's device to a vendor's library, with the emulator as the vendor.
#include "backends/gpu_loader.h"

#include <gtest/gtest.h>

#include "failures.h"
#include "ops/gated_ops.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

TEST(GpuLoader, KnowsWhatCodeRunsWhere) {
  const std::string cuda = "sm_80 sm_89 sm_90a sm_100 compute_100";
  for (const char* runs : {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120"}) {
    EXPECT_TRUE(has_code_for(cuda, runs)) << runs;
  }
  for (const char* does_not : {"sm_75", "sm_70", "gfx942"})
    EXPECT_FALSE(has_code_for(cuda, does_not)) << does_not;
  EXPECT_FALSE(has_code_for("sm_90a", "sm_91"));
  EXPECT_FALSE(has_code_for("sm_89", "sm_86"));
  EXPECT_TRUE(has_code_for("gfx90a gfx942", "gfx942"));
  EXPECT_FALSE(has_code_for("gfx90a gfx942", "gfx1100"));
}

TEST(GpuLoader, SaysWhatIsMissing) {
  const gpu::DeviceList list = gpu_devices("vendor-of-none");
  EXPECT_TRUE(list.devices.empty());
  EXPECT_NE(list.problem.find("llmservice_vendor-of-none.so"), std::string::npos) << list.problem;
  std::string message;
  EXPECT_EQ(failure_of([] { make_gpu_backend("vendor-of-none", 0); }, &message), "DeviceUnavailable");
  EXPECT_TRUE(contains(message, "llmservice_vendor-of-none.so"));
}

TEST(GpuLoader, ListsDevicesAndMakesABackend) {
  const gpu::DeviceList list = gpu_devices("emulator");
  ASSERT_EQ(list.devices.size(), 1u) << list.problem;
  EXPECT_EQ(list.devices[0].name, "kernel emulator");
  EXPECT_EQ(list.devices[0].pci_address, "0001:c1:02.0");
  EXPECT_GT(list.devices[0].memory_bytes, 0u);
  const auto backend = make_gpu_backend("emulator", 0);
  EXPECT_EQ(std::string(backend->isa()), "host warp32, kernel emulator");
  EXPECT_NE(dynamic_cast<GatedOps*>(backend.get()), nullptr) << "of a library's types";
  std::string message;
  EXPECT_EQ(failure_of([] { make_gpu_backend("emulator", 1); }, &message), "DeviceUnavailable");
  EXPECT_TRUE(contains(message, "device 1 is wanted, and there are 1"));
  setenv("LLMSERVICE_RANKS_SHARE_DEVICES", "1", 1);
  EXPECT_NE(make_gpu_backend("emulator", 1), nullptr);
  unsetenv("LLMSERVICE_RANKS_SHARE_DEVICES");
}

TEST(GpuLoader, ErrorsCrossTheBorder) {
  const auto backend = make_gpu_backend("emulator", 0);
  std::string message;
  EXPECT_EQ(failure_of([&] { backend->allocate(size_t{1} << 40); }, &message), "ModelTooLarge");
  EXPECT_TRUE(contains(message, "kernel emulator has 8192 MiB of its 8192 MiB free"));
  const auto buffer = backend->allocate(1000);
  EXPECT_EQ(buffer->bytes(), 1000u);
}

}  // namespace
}  // namespace llmservice
