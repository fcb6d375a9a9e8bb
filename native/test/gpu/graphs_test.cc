// Lists of launches that come again: which become graphs, which graphs stay, and that they compute the same.
#include "backends/gpu/graph_cache.h"
#include "backends/gpu/kernels/rows.h"
#include "gpu_support.h"

namespace llmservice::testing {
namespace {

class Graphs : public ::testing::Test {
 protected:
  // x += y over the first `count` values, twice.
  gpu::LaunchList list_of(int64_t count) const {
    gpu::LaunchList list;
    list.add(gpu::add_bias(x.data(), y.data(), 1, count));
    list.add(gpu::add_bias(x.data(), y.data(), 1, count));
    return list;
  }
  void run(gpu::GraphCache& cache, int64_t count, bool comes_again = true) {
    cache.run(list_of(count), comes_again);
    expected += 2;
    device().finish();
    EXPECT_EQ(x.host().front(), expected);
  }

  const DeviceArray<float> x{8, 0.0f};
  const DeviceArray<float> y{8, 1.0f};
  float expected = 0;
};

TEST_F(Graphs, AListIsCapturedTheSecondTimeAndRunsTheSame) {
  gpu::GraphCache cache(device(), 4);
  for (int i = 0; i < 5; ++i) run(cache, 8);
  EXPECT_EQ(cache.counts().direct, 1u);
  EXPECT_EQ(cache.counts().captured, 1u);
  EXPECT_EQ(cache.counts().replayed, 4u);
}

TEST_F(Graphs, ListsThatDifferInOneArgumentAreNotTheSame) {
  gpu::GraphCache cache(device(), 4);
  for (int i = 0; i < 3; ++i) {
    run(cache, 7);
    run(cache, 8);
  }
  EXPECT_EQ(x.host().back(), 6.0f);
  EXPECT_EQ(cache.counts().captured, 2u);
}

TEST_F(Graphs, TheOnesUsedLastStay) {
  gpu::GraphCache cache(device(), 2);
  for (const int64_t count : {1, 1, 2, 2, 1, 3, 3}) run(cache, count);
  EXPECT_EQ(cache.counts().captured, 3u);
  run(cache, 1);
  EXPECT_EQ(cache.counts().captured, 3u);
  run(cache, 2);  // evicted by 3: seen once, as at first
  EXPECT_EQ(cache.counts().direct, 4u);
  run(cache, 2);
  EXPECT_EQ(cache.counts().captured, 4u);
}

void note_call(void*, std::vector<int64_t>* calls, int64_t what) { calls->push_back(what); }

TEST_F(Graphs, ListsWithCallsRunAsTheyAre) {
  gpu::GraphCache cache(device(), 4);
  std::vector<int64_t> calls;
  for (int i = 0; i < 3; ++i) {
    gpu::LaunchList list = list_of(8);
    list.add(gpu::make_call("note", note_call, &calls, int64_t{7}));
    list.add(gpu::add_bias(x.data(), y.data(), 1, 8));
    EXPECT_TRUE(list.has_calls());
    cache.run(list, true);
    list.clear();
    EXPECT_FALSE(list.has_calls());
  }
  device().finish();
  EXPECT_EQ(x.host().front(), 9.0f);
  EXPECT_EQ(calls, std::vector<int64_t>(3, 7));
  EXPECT_EQ(cache.counts().direct, 3u);
  EXPECT_EQ(cache.counts().captured, 0u);
}

TEST_F(Graphs, NoneWhereNoneAreWanted) {
  gpu::GraphCache none(device(), 0);
  gpu::GraphCache cache(device(), 4);
  for (int i = 0; i < 3; ++i) {
    run(none, 8);
    run(cache, 8, false);
  }
  EXPECT_EQ(none.counts().direct + cache.counts().direct, 6u);
}

TEST_F(Graphs, PaddingOfArgumentsDoesNotDistinguishLists) {
  struct Padded {
    char tag;
    double value;
  };
  const auto made = [](int garbage) {
    alignas(Padded) std::byte storage[sizeof(Padded)];
    std::memset(storage, garbage, sizeof storage);
    auto* padded = reinterpret_cast<Padded*>(storage);
    padded->tag = 'a';
    padded->value = 1;
    return gpu::make_launch(
        "padded", +[](Padded) {}, {}, 1, 0, *padded);
  };
  EXPECT_TRUE(made(0) == made(0xff));
}

}  // namespace
}  // namespace llmservice::testing
