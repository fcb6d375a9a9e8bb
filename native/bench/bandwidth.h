// What the machine's memory gives to all threads that only read: the bar for decode, which reads every weight.
#pragma once

#include "backends/cpu/thread_pool.h"

namespace llmservice::bench {

// Bytes per second of one streaming read of 1 GiB by all threads of the pool, median of `repeats`.
double read_bandwidth(cpu::ThreadPool& pool, int repeats);

}  // namespace llmservice::bench
