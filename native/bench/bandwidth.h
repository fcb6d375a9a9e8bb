// What the machine's memory gives to all threads that only read: the bar for decode, which reads every
// weight.
#pragma once

#include "backends/cpu/anonymous_memory.h"
#include "backends/cpu/thread_pool.h"

namespace llmservice::bench {

class BandwidthProbe {
 public:
  explicit BandwidthProbe(int threads);

  int threads() const { return pool_.threads(); }
  // Bytes per second of a streaming read by all threads: the best of eight, 128 MiB each, since other
  // programs on the machine only take away.
  double measure();

 private:
  cpu::ThreadPool pool_;
  cpu::AnonymousMemory buffer_;
};

}  // namespace llmservice::bench
