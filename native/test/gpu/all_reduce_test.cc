// Sums over ranks: each a thread with a stream of its own, all on one device. Same bits as adding in rank
// order, launch after launch, at sizes that go one way and the other.
#include "backends/gpu/kernels/all_reduce.h"

#include <functional>
#include <thread>

#include "backends/gpu/kernels/rows.h"
#include "gpu_support.h"

namespace llmservice::testing {
namespace {

using gpu::DeviceRanks;

// Runs body(device, ranks) for each rank at once.
void on_ranks(int32_t size, int64_t capacity,
              const std::function<void(gpu::Device&, const DeviceRanks&)>& body, uint32_t lost = 0) {
  const size_t bytes = gpu::rank_memory_bytes(capacity);
  std::vector<std::unique_ptr<DeviceArray<std::byte>>> memory;
  for (int32_t rank = 0; rank < size; ++rank) {
    memory.push_back(std::make_unique<DeviceArray<std::byte>>(bytes, std::byte{0}));
  }
  std::vector<std::thread> threads;
  const DeviceArray<uint32_t> flag(1, lost);
  for (int32_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      gpu::Device own(0);
      auto* const turns = static_cast<uint32_t*>(own.allocate(2 * sizeof(uint32_t)));
      own.zero(turns, 2 * sizeof(uint32_t));
      own.finish();
      DeviceRanks ranks{.rank = rank,
                        .size = size,
                        .capacity = capacity,
                        .memory = {},
                        .turn = turns,
                        .ended = reinterpret_cast<int32_t*>(turns + 1),
                        .lost = flag.data()};
      for (int32_t other = 0; other < size; ++other) {
        std::byte* const start = memory[other]->data();
        ranks.memory[other] = {reinterpret_cast<uint32_t*>(start),
                               reinterpret_cast<float*>(start + gpu::kSignalBytes)};
      }
      body(own, ranks);
      own.release(turns);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Of one rank's device, which is not the one of other tests' arrays.
std::vector<float> read(gpu::Device& own, const float* x, size_t count) {
  std::vector<float> values(count);
  own.download(x, std::as_writable_bytes(std::span(values)));
  return values;
}

float* put(gpu::Device& own, const std::vector<float>& values) {
  auto* const x = static_cast<float*>(own.allocate(values.size() * sizeof(float)));
  own.upload(std::as_bytes(std::span(values)), x);
  return x;
}

std::vector<float> sum_in_rank_order(int32_t size, size_t count, uint32_t seed) {
  std::vector<float> sum = random_floats(count, seed);
  for (int32_t rank = 1; rank < size; ++rank) {
    const std::vector<float> share = random_floats(count, seed + rank);
    for (size_t i = 0; i < count; ++i) sum[i] += share[i];
  }
  return sum;
}

class AllReduceTest : public ::testing::TestWithParam<int32_t> {};

TEST_P(AllReduceTest, AddsInRankOrderTurnAfterTurn) {
  const int32_t size = GetParam();
  // One block, some, all; one shot and two.
  const std::vector<int64_t> counts = {5, 1024,  5120, gpu::kOneShotFloats, gpu::kOneShotFloats + 1001,
                                       3, 40'000};
  on_ranks(size, gpu::kOneShotFloats + 1001, [&](gpu::Device& own, const DeviceRanks& ranks) {
    for (uint32_t turn = 0; turn < counts.size(); ++turn) {
      const uint32_t seed = 100 * turn;
      float* const x = put(own, random_floats(counts[turn], seed + ranks.rank));
      own.run(gpu::all_reduce(ranks, x, counts[turn]));
      expect_same_bits(read(own, x, counts[turn]), sum_in_rank_order(size, counts[turn], seed),
                       "rank " + std::to_string(ranks.rank) + ", turn " + std::to_string(turn));
      own.release(x);
    }
  });
}

TEST_P(AllReduceTest, TheFusedFormHasTheBitsOfTwo) {
  const int32_t size = GetParam();
  on_ranks(size, gpu::kOneShotFloats, [&](gpu::Device& own, const DeviceRanks& ranks) {
    for (const int64_t rows : {1, 3, 70}) {
      const int64_t dim = 257;
      const std::vector<float> share = random_floats(rows * dim, 7 + ranks.rank);
      const std::vector<float> before = random_floats(rows * dim, 50);
      float* const weight = put(own, random_floats(dim, 51));
      float* const update = put(own, share);
      float* const residual = put(own, before);
      float* const out = put(own, std::vector<float>(rows * dim, NAN));
      own.run(gpu::all_reduce_add_rms_norm(ranks, update, residual, weight, 1e-6f, rows, dim, out, {}));
      float* const apart = put(own, before);
      float* const expected = put(own, std::vector<float>(rows * dim, NAN));
      own.run(gpu::all_reduce(ranks, update, rows * dim));
      own.run(gpu::add_rms_norm(apart, update, weight, 1e-6f, rows, dim, expected, {}));
      expect_same_bits(read(own, residual, rows * dim), read(own, apart, rows * dim), "residual");
      expect_same_bits(read(own, out, rows * dim), read(own, expected, rows * dim), "out");
      for (float* memory : {weight, update, residual, out, apart, expected}) own.release(memory);
    }
  });
}

TEST_P(AllReduceTest, RankZeroGathersColumns) {
  const int32_t size = GetParam();
  const int64_t rows = 3;
  const int64_t columns = 1000;
  std::vector<int64_t> begins;
  for (int32_t rank = 0; rank <= size; ++rank) begins.push_back(columns * rank / size);
  const std::vector<float> whole = random_floats(rows * columns, 1);
  on_ranks(size, rows * (columns / size + 1), [&](gpu::Device& own, const DeviceRanks& ranks) {
    const int64_t begin = begins[ranks.rank];
    const int64_t width = begins[ranks.rank + 1] - begin;
    std::vector<float> part;
    for (int64_t row = 0; row < rows; ++row) {
      part.insert(part.end(), whole.begin() + row * columns + begin,
                  whole.begin() + row * columns + begin + width);
    }
    float* const mine = put(own, part);
    float* const out = put(own, std::vector<float>(rows * columns, NAN));
    for (int turn = 0; turn < 3; ++turn) own.run(gpu::gather_columns(ranks, mine, rows, begins.data(), out));
    if (ranks.rank == 0) expect_same_bits(read(own, out, rows * columns), whole, "gathered");
    own.finish();
    own.release(mine);
    own.release(out);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, AllReduceTest, ::testing::Values(1, 2, 3, 8));

TEST(AllReduce, ALostRankHoldsNobodyUp) {
  const auto body = [](gpu::Device& own, const DeviceRanks& ranks) {
    DeviceRanks two = ranks;
    two.size = 2;  // the second never comes
    two.memory[1] = two.memory[0];
    float* const x = put(own, std::vector<float>(100, 1.0f));
    own.run(gpu::all_reduce(two, x, 100));
    own.finish();
    own.release(x);
  };
  on_ranks(1, 1024, body, 1);
}

}  // namespace
}  // namespace llmservice::testing
