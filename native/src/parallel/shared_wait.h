// Sleeping on a word of shared memory until it changes. The process-wide std::atomic::wait of the library
// does not see other processes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace llmservice {

// Sleeps while `word` is `seen`, for `limit` at most; may return early.
void shared_wait(const std::atomic<uint32_t>& word, uint32_t seen, std::chrono::milliseconds limit);
// Wakes all that sleep on `word`, in every process.
void shared_wake(const std::atomic<uint32_t>& word);

// True once `reached()`, polled for about 20 µs: longer than ranks of one pace are apart, shorter than a
// time slice that others need.
template <class Reached>
bool spin_until(const Reached& reached) {
  for (int i = 0; i < 500; ++i) {
    if (reached()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return false;
}

}  // namespace llmservice
