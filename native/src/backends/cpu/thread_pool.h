// Threads that steal the tiles of one job at a time. Tiles are cut into ranges, and each thread begins in one
// of its own: neighbours mostly lie together in memory, which then is read in order. The caller works too; a
// job ends when its last tile does, so a worker that the machine has descheduled delays nobody. Idle workers
// spin briefly, then park in a futex.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace llmservice::cpu {

class ThreadPool {
 public:
  // `threads` counts the caller. Workers inherit its affinity mask.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Runs body(tile, worker) for every tile in [0, tiles), worker in [0, threads()). The body must not throw.
  // One caller at a time; not from within a body.
  template <class Body>
  void run(int64_t tiles, const Body& body) {
    run_job(tiles, ranges(), call_of<Body>, &body);
  }

  // The same in one range, for tiles whose first ones take longest.
  template <class Body>
  void run_in_order(int64_t tiles, const Body& body) {
    run_job(tiles, 1, call_of<Body>, &body);
  }

 private:
  using Call = void (*)(const void* context, int64_t tile, int worker);

  template <class Body>
  static void call_of(const void* context, int64_t tile, int worker) {
    (*static_cast<const Body*>(context))(tile, worker);
  }
  int64_t ranges() const { return static_cast<int64_t>(cursors_.size()); }
  void run_job(int64_t tiles, int64_t ranges, Call call, const void* context);
  void work(int worker);
  void take_tiles(int worker);
  void take_tiles_of(int64_t range, int worker);

  // Job number in the high half, next tile in the low half: a worker that slept through a job cannot claim a
  // tile of the next with what it read of the last, because its compare-exchange fails.
  struct alignas(64) Cursor {
    std::atomic<uint64_t> value{0};
  };

  std::vector<Cursor> cursors_;  // of the ranges
  std::atomic<int64_t> tiles_{0};
  std::atomic<int64_t> ranges_{1};
  std::atomic<Call> call_{nullptr};
  std::atomic<const void*> context_{nullptr};
  std::atomic<int32_t> unfinished_{0};
  std::atomic<uint32_t> job_{0};  // what workers wait for
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> workers_;
};

}  // namespace llmservice::cpu
