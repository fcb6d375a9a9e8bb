// Each fault that the access checker knows is found where it is planted, and not in the same kernel without
// it.
#include "access/planted_support.h"

namespace llmservice::access {
namespace {

using namespace gpu;
using testing::DeviceArray;

constexpr uint32_t kThreads = 4 * kWarpSize;

template <class... Parameters>
Faults in_blocks(uint32_t blocks, void (*kernel)(Parameters...),
                 std::type_identity_t<Parameters>... arguments) {
  return faults_of(
      {make_launch("planted", kernel, {blocks}, kThreads, 2 * kThreads * sizeof(float), arguments...)});
}

enum class Meeting { kNone, kShuffle, kWarp, kBlock };

template <Meeting meeting>
void meet() {
  if constexpr (meeting == Meeting::kShuffle) shuffle(0, 0);
  if constexpr (meeting == Meeting::kWarp) sync_warp();
  if constexpr (meeting == Meeting::kBlock) sync_block();
}

// Reads what the thread `distance` away wrote.
template <Meeting meeting>
__global__ void exchange_kernel(uint32_t distance, float* out) {
  wait_for_previous();
  float* const shared = dynamic_shared<float>();
  shared[threadIdx.x] = 1;
  meet<meeting>();
  out[blockIdx.x * kThreads + threadIdx.x] = shared[threadIdx.x ^ distance];
}

TEST(PlantedFaults, ABarrierOfTheBlockIsMissing) {
  const DeviceArray<float> out(2 * kThreads, 0.0f);
  EXPECT_EQ(in_blocks(2, exchange_kernel<Meeting::kBlock>, kWarpSize, out.data()), Faults());
  for (const Fault fault : in_blocks(2, exchange_kernel<Meeting::kWarp>, kWarpSize, out.data())) {
    EXPECT_TRUE(fault == Fault::kWriteRead || fault == Fault::kReadWrite || fault == Fault::kUnwritten);
  }
  EXPECT_NE(in_blocks(2, exchange_kernel<Meeting::kWarp>, kWarpSize, out.data()), Faults());
}

// Values that are exchanged make no memory visible.
TEST(PlantedFaults, ABarrierOfTheWarpIsMissing) {
  const DeviceArray<float> out(kThreads, 0.0f);
  EXPECT_EQ(in_blocks(1, exchange_kernel<Meeting::kWarp>, 1, out.data()), Faults());
  EXPECT_EQ(in_blocks(1, exchange_kernel<Meeting::kShuffle>, 1, out.data()), Faults{Fault::kWriteRead});
}

// What a block still reads is written again.
template <Meeting meeting>
__global__ void reuse_kernel(float* out) {
  wait_for_previous();
  float* const shared = dynamic_shared<float>();
  shared[threadIdx.x] = 1;
  sync_block();
  float sum = shared[threadIdx.x ^ kWarpSize];
  meet<meeting>();
  shared[threadIdx.x] = sum;
  out[threadIdx.x] = sum;
}

TEST(PlantedFaults, MemoryIsWrittenAgainTooEarly) {
  const DeviceArray<float> out(kThreads, 0.0f);
  EXPECT_EQ(in_blocks(1, reuse_kernel<Meeting::kBlock>, out.data()), Faults());
  EXPECT_TRUE(in_blocks(1, reuse_kernel<Meeting::kNone>, out.data()).contains(Fault::kReadWrite));
}

__global__ void overlap_kernel(uint8_t* out, uint32_t step) {
  wait_for_previous();
  out[(blockIdx.x * kThreads + threadIdx.x) / step] = 1;
}

TEST(PlantedFaults, TwoThreadsWriteOneByte) {
  const DeviceArray<uint8_t> out(2 * kThreads, 0);
  EXPECT_EQ(in_blocks(2, overlap_kernel, out.data(), 1), Faults());
  EXPECT_EQ(in_blocks(2, overlap_kernel, out.data(), 2), Faults{Fault::kWriteWrite});
  EXPECT_EQ(in_blocks(2, overlap_kernel, out.data(), 2 * kThreads), Faults{Fault::kWriteWrite});
}

__global__ void count_kernel(uint32_t* counters, bool plain) {
  wait_for_previous();
  if (plain && threadIdx.x == kThreads - 1) {
    counters[0] = 0;
  } else {
    add_to(&counters[0], 1u);
  }
}

TEST(PlantedFaults, ACounterIsWrittenAsMemory) {
  const DeviceArray<uint32_t> counter(1, 0);
  EXPECT_EQ(in_blocks(2, count_kernel, counter.data(), false), Faults());
  EXPECT_EQ(in_blocks(2, count_kernel, counter.data(), true), Faults{Fault::kWriteWrite});
}

// The last block adds up what all left.
template <bool kPublishes, bool kMeets>
__global__ void last_block_kernel(float* parts, int32_t* counter, float* out) {
  __shared__ int32_t before;
  wait_for_previous();
  parts[blockIdx.x * kThreads + threadIdx.x] = 1;
  if constexpr (kMeets) sync_block();
  if (threadIdx.x == 0) {
    if constexpr (kPublishes) publish_block();
    before = count_up(counter);
  }
  sync_block();
  if (before + 1 < static_cast<int32_t>(gridDim.x)) return;
  float sum = 0;
  for (uint32_t block = 0; block < gridDim.x; ++block) sum += parts[block * kThreads + threadIdx.x];
  out[threadIdx.x] = sum;
}

TEST(PlantedFaults, ABlockIsReadThatPublishedNothing) {
  const DeviceArray<float> parts(3 * kThreads, 0.0f), out(kThreads, 0.0f);
  const auto faults = [&](auto kernel) {
    const DeviceArray<int32_t> counter(1, 0);
    return in_blocks(3, kernel, parts.data(), counter.data(), out.data());
  };
  EXPECT_EQ(faults(last_block_kernel<true, true>), Faults());
  EXPECT_EQ(faults(last_block_kernel<false, true>), Faults{Fault::kWriteRead});
  EXPECT_EQ(faults(last_block_kernel<true, false>), Faults{Fault::kWriteRead});
}

__global__ void unwritten_kernel(float* out, uint32_t there, bool writes_static) {
  __shared__ float only;
  wait_for_previous();
  float* const shared = dynamic_shared<float>();
  if (threadIdx.x < there) shared[threadIdx.x] = 1;
  if (writes_static && blockIdx.x == 0 && threadIdx.x == 0) only = 1;
  sync_block();
  out[blockIdx.x * kThreads + threadIdx.x] = shared[threadIdx.x] + (writes_static ? only : 0.0f);
}

TEST(PlantedFaults, SharedMemoryIsReadThatNobodyWrote) {
  const DeviceArray<float> out(2 * kThreads, 0.0f);
  EXPECT_EQ(in_blocks(2, unwritten_kernel, out.data(), kThreads, false), Faults());
  EXPECT_EQ(in_blocks(2, unwritten_kernel, out.data(), kThreads - 1, false), Faults{Fault::kUnwritten});
  EXPECT_EQ(in_blocks(2, unwritten_kernel, out.data(), kThreads, true), Faults{Fault::kUnwritten});
}

__global__ void static_kernel(float* out) {
  __shared__ float much[9 << 10];
  wait_for_previous();
  for (uint32_t i = threadIdx.x; i < 9 << 10; i += kThreads) much[i] = 1;
  out[threadIdx.x] = much[threadIdx.x];
}

TEST(PlantedFaults, SharedMemoryIsTooSmall) {
  const DeviceArray<float> out(kThreads, 0.0f);
  constexpr uint32_t kMost = kWarpSize == 64 ? 64 << 10 : 227 << 10;
  const auto faults = [&](uint32_t dynamic) {
    return faults_of({make_launch("planted", static_kernel, {}, kThreads, dynamic, out.data())});
  };
  EXPECT_EQ(faults(kMost - (36 << 10)), Faults());
  EXPECT_EQ(faults(kMost - (36 << 10) + 16), Faults{Fault::kSharedLimit});
}

// Launches that overlap.
enum class Order { kWaits, kLetsThenWaits, kWaitsThenLets, kNeverWaits };

template <Order order>
__global__ void write_kernel(float* out) {
  if constexpr (order == Order::kLetsThenWaits) let_next_start();
  if constexpr (order != Order::kNeverWaits) wait_for_previous();
  if constexpr (order == Order::kWaitsThenLets) let_next_start();
  if (threadIdx.x == 0) out[0] = 1;
}

template <bool kEarly>
__global__ void read_kernel(const float* x, float* out) {
  let_next_start();
  float value = 0;
  if (kEarly) value = x[threadIdx.x];
  wait_for_previous();
  out[threadIdx.x] = kEarly ? value : x[threadIdx.x];
}

template <bool kEarly>
Launch reads(const DeviceArray<float>& from, const DeviceArray<float>& to) {
  return make_launch("reads", read_kernel<kEarly>, {}, kWarpSize, 0, from.data(), to.data());
}

struct Overlap : ::testing::Test {
  const DeviceArray<float> x{kWarpSize, 0.0f}, y{kWarpSize, 0.0f}, z{kWarpSize, 0.0f};
};

__global__ void one_write_kernel(float* out, bool early) {
  if (!early) wait_for_previous();
  if (blockIdx.x == 0) out[threadIdx.x] = 1;
  wait_for_previous();
}
Launch write_once(const DeviceArray<float>& to, bool early = false) {
  return make_launch("writes", one_write_kernel, {2}, kWarpSize, 0, to.data(), early);
}

TEST_F(Overlap, ALaunchReadsBeforeItsWaitWhatTheOneBeforeWrites) {
  EXPECT_EQ(faults_of({write_once(x), reads<false>(x, y)}), Faults());
  EXPECT_EQ(faults_of({write_once(x), reads<true>(x, y)}), Faults{Fault::kEarlyRead});
}

// As gdn_recurrent reads S: what is between must have waited before it lets the next start.
TEST_F(Overlap, WhatIsBetweenHoldsTheNextLaunchBack) {
  const auto between = [&](void (*kernel)(float*)) {
    return faults_of(
        {write_once(x), make_launch("between", kernel, {}, kWarpSize, 0, z.data()), reads<true>(x, y)});
  };
  EXPECT_EQ(between(write_kernel<Order::kWaitsThenLets>), Faults());
  EXPECT_EQ(between(write_kernel<Order::kWaits>), Faults());
  EXPECT_EQ(between(write_kernel<Order::kLetsThenWaits>), Faults{Fault::kEarlyRead});
}

TEST_F(Overlap, TheHostWaitsBetweenLaunches) {
  EXPECT_EQ(faults_of({write_once(x)}), Faults());
  EXPECT_EQ(faults_of({reads<true>(x, y)}), Faults());
}

TEST_F(Overlap, ALaunchWritesBeforeItsWait) {
  EXPECT_EQ(faults_of({write_once(x, true)}), Faults{Fault::kEarlyWrite});
}

TEST_F(Overlap, ALaunchNeverWaits) {
  const Faults faults =
      faults_of({make_launch("never", write_kernel<Order::kNeverWaits>, {}, kWarpSize, 0, x.data())});
  EXPECT_EQ(faults, (Faults{Fault::kNeverWaited, Fault::kEarlyWrite}));
}

}  // namespace
}  // namespace llmservice::access
