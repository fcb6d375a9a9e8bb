#include "kernel_times.h"

#include <algorithm>

namespace llmservice::bench {
namespace {

std::string key_of(const gpu::Launch& launch) {
  const auto& [x, y, z] = launch.grid;
  return std::string(launch.name) + ' ' + std::to_string(x) + ' ' + std::to_string(y) + ' ' +
         std::to_string(z);
}

}  // namespace

void KernelTimes::take(gpu::Device& device, const gpu::LaunchList& list) {
  if (!looking_ || list.empty()) return;
  device.finish();
  gpu::Stopwatch stopwatch(device, options_);
  std::map<std::string, gpu::Launches> groups;
  for (const gpu::Launch& launch : list.launches()) groups[key_of(launch)].push_back(launch);
  for (const auto& [key, launches] : groups) {
    KernelTime& time = kernels_[key];
    time.kernel = launches.front().name;
    time.grid = launches.front().grid;
    time.launches += static_cast<int64_t>(launches.size());
    time.micros += stopwatch.micros(launches);
  }
  whole_micros_ += stopwatch.micros(list.launches());
}

StepTimes KernelTimes::end() {
  looking_ = false;
  StepTimes step;
  step.whole_micros = whole_micros_;
  for (const auto& [key, time] : kernels_) {
    step.kernels.push_back(time);
    step.launches += time.launches;
  }
  std::ranges::stable_sort(step.kernels, std::greater{}, &KernelTime::micros);
  kernels_.clear();
  whole_micros_ = 0;
  return step;
}

}  // namespace llmservice::bench
