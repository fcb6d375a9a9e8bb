// What graphs take of a device, and what becomes of lists for which it has no room.
#include "backends/gpu/graph_cache.h"
#include "backends/gpu/kernels/rows.h"
#include "gpu_support.h"

namespace llmservice::testing {
namespace {

constexpr size_t kGraph = 64 << 10;

class GraphRoom : public ::testing::Test {
 protected:
  void SetUp() override { gpu::emulated_device().graph = kGraph; }
  void TearDown() override {
    gpu::emulated_device().graph = 0;
    gpu::emulated_device().taken_by_others = 0;
  }

  void run(gpu::GraphCache& cache, int64_t count) {
    gpu::LaunchList list;
    list.add(gpu::add_bias(x.data(), y.data(), 1, count));
    cache.run(list, true);
    device().finish();
  }

  const DeviceArray<float> x{8, 0.0f};
  const DeviceArray<float> y{8, 1.0f};
};

TEST_F(GraphRoom, IsCountedOfThoseThatAreKept) {
  gpu::GraphCache cache(device(), 2);
  for (const int64_t count : {1, 1, 1}) run(cache, count);
  EXPECT_EQ(cache.counts().bytes, kGraph);
  for (const int64_t count : {2, 2, 3, 3, 4, 4}) run(cache, count);
  EXPECT_EQ(cache.counts().captured, 4u);
  EXPECT_EQ(cache.counts().bytes, 2 * kGraph);
  EXPECT_EQ(cache.counts().refused, 0u);
}

TEST_F(GraphRoom, IsRefusedByNameAndTheListRunsLaunchByLaunch) {
  gpu::GraphCache cache(device(), 2);
  run(cache, 8);
  gpu::emulated_device().taken_by_others = device().memory().free;
  run(cache, 8);
  EXPECT_EQ(cache.counts().refused, 1u);
  EXPECT_EQ(cache.counts().direct, 2u);
  EXPECT_EQ(cache.counts().replayed, 0u);
  EXPECT_EQ(cache.counts().bytes, 0u);
  EXPECT_EQ(x.host().back(), 2.0f);
}

}  // namespace
}  // namespace llmservice::testing
