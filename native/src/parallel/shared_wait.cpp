#include "parallel/shared_wait.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace llmservice {
namespace {

// The kernel takes the address of the 32-bit value, which a lock-free atomic is.
const void* address(const std::atomic<uint32_t>& word) { return &word; }

}  // namespace

void shared_wait(const std::atomic<uint32_t>& word, uint32_t seen, std::chrono::milliseconds limit) {
  const timespec timeout{.tv_sec = limit.count() / 1000, .tv_nsec = limit.count() % 1000 * 1'000'000};
  syscall(SYS_futex, address(word), FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

void shared_wake(const std::atomic<uint32_t>& word) {
  syscall(SYS_futex, address(word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace llmservice
