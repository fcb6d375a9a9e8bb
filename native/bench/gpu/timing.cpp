#include "timing.h"

#include "../median.h"
#include "ops/error.h"

namespace llmservice::gpu {
namespace {

constexpr int kWarmUps = 2;

void check(gpuError_t error) {
  if (error != gpuSuccess) throw EngineError(FailureReason::kDeviceFault, gpuGetErrorString(error));
}

}  // namespace

Stopwatch::Stopwatch(Device& device, const TimingOptions& options)
    : device_(device), options_(options), flush_(device, options.flush_bytes) {
  check(gpuEventCreate(&begin_));
  check(gpuEventCreate(&end_));
}

Stopwatch::~Stopwatch() {
  static_cast<void>(gpuEventDestroy(begin_));
  static_cast<void>(gpuEventDestroy(end_));
}

double Stopwatch::micros(std::span<const Launch> launches) {
  const std::optional<Graph> graph = device_.capture(launches);
  const auto run = [&] {
    if (graph) return device_.run(*graph);
    for (const Launch& launch : launches) device_.run(launch);
  };
  for (int i = 0; i < kWarmUps; ++i) run();
  std::vector<double> samples;
  for (int i = 0; i < options_.samples; ++i) {
    device_.zero(flush_.data(), flush_.bytes());
    check(gpuEventRecord(begin_, device_.stream()));
    run();
    check(gpuEventRecord(end_, device_.stream()));
    device_.finish();
    float milliseconds = 0;
    check(gpuEventElapsedTime(&milliseconds, begin_, end_));
    samples.push_back(1000.0 * milliseconds);
  }
  return bench::median(samples);
}

}  // namespace llmservice::gpu
