// How long each kernel of a step takes: launches of one kernel and grid, from all layers, run one after the
// other as a graph of their own, so that no time of the host or of an event lies between them. What they
// compute meanwhile is of no use: a sequence that was inspected so is not to continue.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backends/gpu/launch_list.h"
#include "timing.h"

namespace llmservice::bench {

struct KernelTime {
  std::string kernel;
  gpu::Grid grid;
  int64_t launches = 0;
  double micros = 0;  // of all of them
};

struct StepTimes {
  std::vector<KernelTime> kernels;  // longest first
  int64_t launches = 0;
  double whole_micros = 0;  // of the step's lists as they are, without gaps between lists
};

// GpuOptions::on_list, which does nothing until begin().
class KernelTimes {
 public:
  explicit KernelTimes(const gpu::TimingOptions& options) : options_(options) {}

  void begin() { looking_ = true; }
  // Of all lists since begin().
  StepTimes end();
  void take(gpu::Device& device, const gpu::LaunchList& list);

 private:
  gpu::TimingOptions options_;
  bool looking_ = false;
  std::map<std::string, KernelTime> kernels_;
  double whole_micros_ = 0;
};

}  // namespace llmservice::bench
