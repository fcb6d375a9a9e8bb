// Which cores the ranks of a machine compute on.
#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "backends/cpu/topology.h"

namespace llmservice::cpu {
namespace {

struct Share {
  cpu_set_t mask;
  int threads;
};

// On a thread of its own: a share binds the thread that takes it.
Share share_of(int rank, int ranks) {
  Share share{};
  std::thread([&] {
    share.threads = take_share_of_cores(rank, ranks);
    sched_getaffinity(0, sizeof(share.mask), &share.mask);
  }).join();
  return share;
}

cpu_set_t own_mask() {
  cpu_set_t mask;
  sched_getaffinity(0, sizeof(mask), &mask);
  return mask;
}

TEST(Cores, AreDividedAmongRanksWithoutOverlapOrRest) {
  const cpu_set_t all = own_mask();
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "needs two cores";
  const Share first = share_of(0, 2);
  const Share second = share_of(1, 2);
  cpu_set_t both;
  CPU_AND(&both, &first.mask, &second.mask);
  cpu_set_t either;
  CPU_OR(&either, &first.mask, &second.mask);
  if (CPU_EQUAL(&first.mask, &all)) GTEST_SKIP() << "one physical core";
  EXPECT_EQ(CPU_COUNT(&both), 0);
  EXPECT_TRUE(CPU_EQUAL(&either, &all));
  EXPECT_GE(first.threads, 1);
  EXPECT_LE(first.threads, CPU_COUNT(&first.mask));
}

TEST(Cores, AreSharedByAllWhenThereAreMoreRanks) {
  const cpu_set_t all = own_mask();
  const Share share = share_of(5, 100'000);
  EXPECT_EQ(share.threads, 1);
  EXPECT_TRUE(CPU_EQUAL(&share.mask, &all));
}

}  // namespace
}  // namespace llmservice::cpu
