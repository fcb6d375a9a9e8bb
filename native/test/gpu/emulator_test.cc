// The emulator must show the mistakes that a device hides: a missing barrier, lanes that part, memory beyond
// what was asked for.
#include "backends/gpu/kernels/reduce.h"
#include "gpu_support.h"

namespace llmservice::testing {
namespace {

using namespace gpu;

constexpr uint32_t kThreads = 4 * kWarpSize;

template <bool kBarrier>
__global__ void reverse_kernel(const float* x, float* out) {
  float* const shared = dynamic_shared<float>();
  shared[threadIdx.x] = x[threadIdx.x];
  if constexpr (kBarrier) sync_block();
  out[blockIdx.x * kThreads + threadIdx.x] = shared[kThreads - 1 - threadIdx.x];
}

std::vector<float> reversed(void (*kernel)(const float*, float*)) {
  const DeviceArray<float> x(random_floats(kThreads, 1)), out(3 * kThreads, 0.0f);
  testing::run(make_launch("reverse", kernel, {3}, kThreads, kThreads * sizeof(float), x.data(), out.data()));
  return out.host();
}

TEST(Emulator, ThreadsMeetAtBarriers) {
  const std::vector<float> x = random_floats(kThreads, 1);
  const std::vector<float> out = reversed(reverse_kernel<true>);
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], x[kThreads - 1 - i % kThreads]);
}

TEST(Emulator, AMissingBarrierShows) {
  for (const float value : reversed(reverse_kernel<false>)) {
    if (std::isnan(value)) return;
  }
  FAIL() << "no thread read before another had written";
}

__global__ void sum_kernel(const float* x, float* out) {
  out[threadIdx.x] = reduce_block<Sum>(x[threadIdx.x]);
}

TEST(Emulator, SumsOverABlock) {
  const DeviceArray<float> x(kThreads, 0.5f), out(kThreads, 0.0f);
  testing::run(make_launch("sum", sum_kernel, {}, kThreads, 0, x.data(), out.data()));
  for (const float value : out.host()) EXPECT_EQ(value, kThreads * 0.5f);
}

__global__ void part_kernel(float* out) {
  if (lane_id() < 2) {
    out[0] = shuffle(1.0f, 0);
  } else {
    sync_block();
  }
}

TEST(EmulatorDeathTest, LanesThatPartAreReported) {
  const DeviceArray<float> out(1, 0.0f);
  EXPECT_DEATH(testing::run(make_launch("part", part_kernel, {}, kThreads, 0, out.data())),
               "part, block .0, 0, 0.: threads wait .*lanes of a warp part.* 2 of " +
                   std::to_string(kWarpSize) + " wait in shuffle\\(\\) at .*emulator_test.cc");
}

enum class Together { kYes, kNo };

// Each is a meeting that the upper half of the lanes enters from elsewhere, or in the same call.
template <Together together>
__global__ void shuffle_and_barrier_kernel(float* out) {
  const bool is_upper = lane_id() >= kWarpSize / 2;
  if (together == Together::kYes || !is_upper) out[threadIdx.x] = shuffle(1.0f, 0);
  if (together == Together::kYes || is_upper) sync_warp();
}

template <Together together>
__global__ void two_shuffles_kernel(float* out) {
  const bool is_upper = lane_id() >= kWarpSize / 2;
  if (together == Together::kNo && is_upper) {
    out[threadIdx.x] = shuffle(2.0f, 0);
  } else {
    out[threadIdx.x] = shuffle(1.0f, 0);
  }
}

template <Together together>
__global__ void two_barriers_kernel(float* out) {
  out[threadIdx.x] = 1;
  if (together == Together::kNo && lane_id() % 2 == 1) {
    sync_block();
  } else {
    sync_block();
  }
}

// Warps may go through different calls.
__global__ void warps_apart_kernel(float* out) {
  if (warp_id() == 0) {
    sync_warp();
  } else {
    out[threadIdx.x] = shuffle(1.0f, 0);
  }
  if (warp_id() == 0) {
    sync_block();
  } else {
    sync_block();
  }
}

void launch(void (*kernel)(float*)) {
  const DeviceArray<float> out(kThreads, 0.0f);
  testing::run(make_launch("apart", kernel, {2}, kThreads, 0, out.data()));
}

TEST(Emulator, LanesMeetInOneCallAndWarpsInAny) {
  launch(shuffle_and_barrier_kernel<Together::kYes>);
  launch(two_shuffles_kernel<Together::kYes>);
  launch(two_barriers_kernel<Together::kYes>);
  launch(warps_apart_kernel);
}

TEST(EmulatorDeathTest, LanesInDifferentCallsAreReported) {
  const std::string where =
      "apart, block .0, 0, 0.: lanes of warp . meet in different calls: lane [0-9]+ in ";
  EXPECT_DEATH(
      launch(shuffle_and_barrier_kernel<Together::kNo>),
      where + "sync_warp.* at .*emulator_test.cc:[0-9]+, lane [0-9]+ in shuffle.* at .*emulator_test.cc:");
  EXPECT_DEATH(launch(two_shuffles_kernel<Together::kNo>), where + "shuffle.*, lane [0-9]+ in shuffle");
  EXPECT_DEATH(launch(two_barriers_kernel<Together::kNo>), where + "sync_block.*, lane [0-9]+ in sync_block");
}

}  // namespace
}  // namespace llmservice::testing
