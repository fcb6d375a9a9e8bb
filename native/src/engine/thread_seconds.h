#pragma once

#include <ctime>

namespace llmservice {

// Processor time of the calling thread.
inline double thread_seconds() {
  timespec spent;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

}  // namespace llmservice
