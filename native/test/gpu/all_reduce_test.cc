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

// What a rank has of its own, all of it taken before the first launch and freed after the last: to take or
// free memory waits for all work of the device, and so for kernels that wait for another rank. A copy of
// memory that is not pinned, as here, keeps the driver from other threads while it waits for the launches
// before it: these are finished first.
class Rank {
 public:
  Rank() : own_(0), memory_(kFloats, 0.0f) {}

  gpu::Device& device() { return own_; }
  uint32_t* turns() const { return reinterpret_cast<uint32_t*>(memory_.data()); }
  float* put(const std::vector<float>& values) {
    float* const x = memory_.data() + used_;
    used_ += (static_cast<int64_t>(values.size()) + 63) / 64 * 64;
    if (used_ > kFloats) throw std::length_error("a rank puts more than it has room for");
    own_.finish();
    own_.upload(std::as_bytes(std::span(values)), x);
    return x;
  }
  std::vector<float> read(const float* x, size_t count) {
    std::vector<float> values(count);
    own_.finish();
    own_.download(x, std::as_writable_bytes(std::span(values)));
    return values;
  }

 private:
  static constexpr int64_t kFloats = 1 << 19;

  gpu::Device own_;
  DeviceArray<float> memory_;
  int64_t used_ = 64;  // behind turns()
};

// Runs body(rank, ranks) for each rank at once.
void on_ranks(int32_t size, int64_t capacity, const std::function<void(Rank&, const DeviceRanks&)>& body,
              uint32_t lost = 0) {
  const size_t bytes = gpu::rank_memory_bytes(capacity);
  std::vector<std::unique_ptr<DeviceArray<std::byte>>> memory;
  std::vector<std::unique_ptr<Rank>> own;
  for (int32_t rank = 0; rank < size; ++rank) {
    memory.push_back(std::make_unique<DeviceArray<std::byte>>(bytes, std::byte{0}));
    own.push_back(std::make_unique<Rank>());
  }
  const DeviceArray<uint32_t> flag(1, lost);
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      uint32_t* const turns = own[rank]->turns();
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
      body(*own[rank], ranks);
      own[rank]->device().finish();
    });
  }
  for (std::thread& thread : threads) thread.join();
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
  on_ranks(size, gpu::kOneShotFloats + 1001, [&](Rank& own, const DeviceRanks& ranks) {
    for (uint32_t turn = 0; turn < counts.size(); ++turn) {
      const uint32_t seed = 100 * turn;
      float* const x = own.put(random_floats(counts[turn], seed + ranks.rank));
      own.device().run(gpu::all_reduce(ranks, x, counts[turn]));
      expect_same_bits(own.read(x, counts[turn]), sum_in_rank_order(size, counts[turn], seed),
                       "rank " + std::to_string(ranks.rank) + ", turn " + std::to_string(turn));
    }
  });
}

TEST_P(AllReduceTest, TheFusedFormHasTheBitsOfTwo) {
  const int32_t size = GetParam();
  on_ranks(size, gpu::kOneShotFloats, [&](Rank& own, const DeviceRanks& ranks) {
    for (const int64_t rows : {1, 3, 70}) {
      const int64_t dim = 257;
      const std::vector<float> share = random_floats(rows * dim, 7 + ranks.rank);
      const std::vector<float> before = random_floats(rows * dim, 50);
      float* const weight = own.put(random_floats(dim, 51));
      float* const update = own.put(share);
      float* const residual = own.put(before);
      float* const out = own.put(std::vector<float>(rows * dim, NAN));
      own.device().run(
          gpu::all_reduce_add_rms_norm(ranks, update, residual, weight, 1e-6f, rows, dim, out, {}));
      float* const apart = own.put(before);
      float* const expected = own.put(std::vector<float>(rows * dim, NAN));
      own.device().run(gpu::all_reduce(ranks, update, rows * dim));
      own.device().run(gpu::add_rms_norm(apart, update, weight, 1e-6f, rows, dim, expected, {}));
      expect_same_bits(own.read(residual, rows * dim), own.read(apart, rows * dim), "residual");
      expect_same_bits(own.read(out, rows * dim), own.read(expected, rows * dim), "out");
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
  on_ranks(size, rows * (columns / size + 1), [&](Rank& own, const DeviceRanks& ranks) {
    const int64_t begin = begins[ranks.rank];
    const int64_t width = begins[ranks.rank + 1] - begin;
    std::vector<float> part;
    for (int64_t row = 0; row < rows; ++row) {
      part.insert(part.end(), whole.begin() + row * columns + begin,
                  whole.begin() + row * columns + begin + width);
    }
    float* const mine = own.put(part);
    float* const out = own.put(std::vector<float>(rows * columns, NAN));
    for (int turn = 0; turn < 3; ++turn)
      own.device().run(gpu::gather_columns(ranks, mine, rows, begins.data(), out));
    if (ranks.rank == 0) expect_same_bits(own.read(out, rows * columns), whole, "gathered");
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, AllReduceTest, ::testing::Values(1, 2, 3, 8));

TEST(AllReduce, ALostRankHoldsNobodyUp) {
  const auto body = [](Rank& own, const DeviceRanks& ranks) {
    DeviceRanks two = ranks;
    two.size = 2;  // the second never comes
    two.memory[1] = two.memory[0];
    float* const x = own.put(std::vector<float>(100, 1.0f));
    own.device().run(gpu::all_reduce(two, x, 100));
  };
  on_ranks(1, 1024, body, 1);
}

}  // namespace
}  // namespace llmservice::testing
