// The thread pool: every tile once, jobs back to back and after idling, and a clean end.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "backends/cpu/thread_pool.h"
#include "backends/cpu/topology.h"

namespace llmservice::cpu {
namespace {

TEST(ThreadPool, RunsEveryTileExactlyOnceInEveryJob) {
  for (const int threads : {1, 2, 3, 8, 12}) {
    ThreadPool pool(threads);
    for (int job = 0; job < 3000; ++job) {
      const int tiles = job % 17;
      std::vector<int> runs(tiles, 0);  // plain ints: a tile run twice, or late, is a race that TSan sees
      const auto count = [&](int64_t tile, int worker) {
        ASSERT_LT(worker, threads);
        ++runs[tile];
      };
      if (job % 3 == 0) {
        pool.run_in_order(tiles, count);
      } else {
        pool.run(tiles, count);
      }
      ASSERT_EQ(runs, std::vector<int>(tiles, 1)) << threads << " threads, job " << job;
    }
  }
}

TEST(ThreadPool, WakesParkedWorkers) {
  ThreadPool pool(3);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    // Each tile waits for the other: it ends only if two threads take part.
    std::atomic<int> inside{0};
    pool.run(2, [&](int64_t, int) {
      inside.fetch_add(1);
      while (inside.load() < 2) std::this_thread::yield();
    });
    EXPECT_EQ(inside.load(), 2);
  }
}

TEST(ThreadPool, EndsWhileItsWorkersSpinOrSleep) {
  for (int i = 0; i < 50; ++i) {
    ThreadPool pool(4);
    if (i % 2 == 0) pool.run(8, [](int64_t, int) {});
  }
}

TEST(Topology, FindsAtLeastOneCoreAndNoMoreThanTheMachineHas) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace llmservice::cpu
