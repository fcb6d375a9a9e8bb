// As planted_faults_test.cc, of what is asynchronous on Hopper: bulk copies, their barriers and products of a
// warpgroup.
#include "access/planted_support.h"
#include "backends/gpu/vendor/wgmma.h"

namespace llmservice::access {
namespace {

#if LLMSERVICE_WARP_SIZE == 32

using namespace gpu;
using testing::DeviceArray;

constexpr uint32_t kWarpgroup = 4 * kWarpSize;
constexpr uint32_t kBytes = kWarpgroup * sizeof(float);
constexpr uint32_t kTileBytes = 8 << 10;

Faults in_a_warpgroup(void (*kernel)(const float*, float*)) {
  const DeviceArray<float> x(2 * kWarpgroup, 1.0f), out(kWarpgroup, 0.0f);
  return faults_of(
      {make_launch("planted", kernel, {}, kWarpgroup, 2 * kTileBytes + 1024 + 64, x.data(), out.data())});
}

enum class Planted { kNothing, kFence, kFull, kEmpty, kEarly };

// Two copies through one place: the second when all warps have read the first.
template <Planted planted>
__global__ void copy_kernel(const float* x, float* out) {
  auto* const place = dynamic_shared<float>();
  auto* const full = reinterpret_cast<uint64_t*>(place + kWarpgroup);
  uint64_t* const empty = full + 1;
  if (threadIdx.x == 0) {
    init_barrier(full, 1);
    init_barrier(empty, 4);
    if constexpr (planted != Planted::kFence) publish_barriers();
  }
  sync_block();
  if (planted != Planted::kEarly || threadIdx.x > 0) wait_for_previous();
  float sum = 0;
  for (uint32_t i = 0; i < 2; ++i) {
    if (threadIdx.x == 0) {
      if (i > 0 && planted != Planted::kEmpty) wait_phase(empty, 0);
      expect_bytes(full, kBytes);
      copy_bulk(place, x + i * kWarpgroup, kBytes, full);
    }
    if (planted != Planted::kFull || threadIdx.x != 1) wait_phase(full, i);
    sum += place[threadIdx.x ^ 1];
    sync_warp();
    if (lane_id() == 0) arrive(empty);
  }
  out[threadIdx.x] = sum;
}

TEST(PlantedAsyncFaults, CopiesThroughBarriers) {
  EXPECT_EQ(in_a_warpgroup(copy_kernel<Planted::kNothing>), Faults());
  EXPECT_EQ(in_a_warpgroup(copy_kernel<Planted::kFence>), Faults{Fault::kUnfencedBarrier});
}

TEST(PlantedAsyncFaults, ACopyIsReadBeforeItLanded) {
  EXPECT_TRUE(in_a_warpgroup(copy_kernel<Planted::kFull>).contains(Fault::kWriteRead));
}

TEST(PlantedAsyncFaults, ACopyWritesWhatIsStillRead) {
  EXPECT_TRUE(in_a_warpgroup(copy_kernel<Planted::kEmpty>).contains(Fault::kReadWrite));
}

__global__ void fill_kernel(float* x) {
  wait_for_previous();
  x[threadIdx.x] = 1;
}

TEST(PlantedAsyncFaults, ACopyReadsBeforeTheWait) {
  const DeviceArray<float> x(2 * kWarpgroup, 1.0f), out(kWarpgroup, 0.0f);
  const auto faults = [&](void (*kernel)(const float*, float*)) {
    return faults_of({make_launch("fill", fill_kernel, {}, 2 * kWarpgroup, 0, x.data()),
                      make_launch("planted", kernel, {}, kWarpgroup, kBytes + 16, x.data(), out.data())});
  };
  EXPECT_EQ(faults(copy_kernel<Planted::kNothing>), Faults());
  EXPECT_EQ(faults(copy_kernel<Planted::kEarly>), Faults{Fault::kEarlyRead});
}

template <bool kFence, bool kMeet>
__global__ void product_kernel(const float*, float* out) {
  wait_for_previous();
  std::byte* const a = align_tiles(dynamic_shared<std::byte>());
  std::byte* const b = a + kTileBytes;
  for (uint32_t i = threadIdx.x * 4; i < kTileBytes + 1024; i += 4 * kWarpgroup)
    *reinterpret_cast<float*>(a + i) = 0;
  if constexpr (kFence) publish_barriers();
  if constexpr (kMeet) sync_block();
  float d[4];
  begin_wgmma(d);
  wgmma<DType::kBF16>(d, tile_descriptor(a, 0), tile_descriptor(b, 0), false);
  commit_wgmma();
  wait_wgmma(d);
  out[threadIdx.x] = d[0];
}

TEST(PlantedAsyncFaults, AProductReadsWhatThreadsStored) {
  EXPECT_EQ(in_a_warpgroup(product_kernel<true, true>), Faults());
  EXPECT_EQ(in_a_warpgroup(product_kernel<false, true>), Faults{Fault::kUnfencedProduct});
  EXPECT_TRUE(in_a_warpgroup(product_kernel<true, false>).contains(Fault::kWriteRead));
}

#endif

}  // namespace
}  // namespace llmservice::access
