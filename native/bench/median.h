// Timing a call, and the middle of several timings.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace llmservice::bench {

template <class Call>
double seconds_of(const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace llmservice::bench
