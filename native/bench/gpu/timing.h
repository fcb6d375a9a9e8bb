// Device time of launches: the median of several samples between two events. Before each sample a buffer
// larger than any L2 is cleared, which empties the L2 of what the last sample left there and lets the host
// run ahead.
#pragma once

#include <functional>
#include <span>

#include "backends/gpu/device.h"

namespace llmservice::gpu {

struct TimingOptions {
  int samples = 20;
  int64_t flush_bytes = int64_t{256} << 20;
};

class Stopwatch {
 public:
  Stopwatch(Device& device, const TimingOptions& options);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  // Microseconds of all the launches together, one after the other, as one graph.
  double micros(std::span<const Launch> launches);

 private:
  Device& device_;
  TimingOptions options_;
  DeviceMemory flush_;
  gpuEvent_t begin_ = nullptr;
  gpuEvent_t end_ = nullptr;
};

}  // namespace llmservice::gpu
