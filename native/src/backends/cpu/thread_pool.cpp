// Claiming tiles, spinning and parking.
#include "backends/cpu/thread_pool.h"

#include <algorithm>
#include <chrono>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace llmservice::cpu {
namespace {

// Longer than the last tile of an op and than the gap between two ops of a step, shorter than a time slice
// that others need. In time: a pause takes 10 to 140 cycles, as the CPU has it.
constexpr std::chrono::microseconds kSpinTime{50};
constexpr int kPausesPerLook = 16;  // at the clock

// More ranges cost each thread more looks for what is left.
constexpr int kMaxRanges = 8;

// The tile half of a cursor when it is no job's: beyond every tile.
constexpr uint64_t kClosed = 0xffffffff;

int64_t first_of(int64_t range, int64_t tiles, int64_t ranges) { return tiles * range / ranges; }

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

// Returns once `value` differs from `old`.
template <class T>
void wait_for_change(const std::atomic<T>& value, T old) {
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kPausesPerLook; ++i) {
      if (value.load(std::memory_order_acquire) != old) return;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int threads) : cursors_(std::clamp(threads, 1, kMaxRanges)) {
  for (int worker = 1; worker < threads; ++worker) {
    workers_.emplace_back([this, worker] { work(worker); });
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  job_.fetch_add(1, std::memory_order_release);
  job_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run_job(int64_t tiles, int64_t ranges, Call call, const void* context) {
  if (tiles <= 1 || workers_.empty()) {
    for (int64_t tile = 0; tile < tiles; ++tile) call(context, tile, 0);
    return;
  }
  // Closed first: a worker still reading the last job must not pair its cursor with the fields of this
  // one.
  const uint32_t job = job_.load(std::memory_order_relaxed) + 1;
  const uint64_t opening = static_cast<uint64_t>(job) << 32;
  for (Cursor& cursor : cursors_) cursor.value.store(opening | kClosed, std::memory_order_release);
  tiles_.store(tiles, std::memory_order_release);
  ranges_.store(ranges, std::memory_order_release);
  call_.store(call, std::memory_order_release);
  context_.store(context, std::memory_order_release);
  unfinished_.store(static_cast<int32_t>(tiles), std::memory_order_relaxed);
  for (int64_t range = 0; range < ranges; ++range) {
    cursors_[range].value.store(opening | first_of(range, tiles, ranges), std::memory_order_release);
  }
  job_.store(job, std::memory_order_release);
  job_.notify_all();
  take_tiles(0);
  for (int32_t left = unfinished_.load(std::memory_order_acquire); left != 0;
       left = unfinished_.load(std::memory_order_acquire)) {
    wait_for_change(unfinished_, left);
  }
}

void ThreadPool::take_tiles(int worker) {
  for (int64_t i = 0; i < ranges(); ++i) take_tiles_of((worker + i) % ranges(), worker);
}

void ThreadPool::take_tiles_of(int64_t range, int worker) {
  std::atomic<uint64_t>& cursor = cursors_[range].value;
  uint64_t seen = cursor.load(std::memory_order_acquire);
  for (;;) {
    const auto tile = static_cast<int64_t>(seen & kClosed);
    const Call call = call_.load(std::memory_order_acquire);
    const void* context = context_.load(std::memory_order_acquire);
    const int64_t tiles = tiles_.load(std::memory_order_acquire);
    if (tile >= first_of(range + 1, tiles, ranges_.load(std::memory_order_acquire))) return;
    if (!cursor.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
      continue;
    }
    call(context, tile, worker);
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
    ++seen;
  }
}

void ThreadPool::work(int worker) {
  uint32_t seen = 0;
  for (;;) {
    wait_for_change(job_, seen);
    seen = job_.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_relaxed)) return;
    take_tiles(worker);
  }
}

}  // namespace llmservice::cpu
