// The parts of llmservice_gpu_bench: each prints one JSON object per line.
#pragma once

#include <filesystem>
#include <string>

#include "timing.h"

namespace llmservice::bench {

struct BenchOptions {
  bool quick;  // the tiny shape, once: shows that all runs, and no speed
  int32_t drafts;
  int32_t right;  // of the drafts of a step

  gpu::TimingOptions timing() const { return quick ? gpu::TimingOptions{1, 4096} : gpu::TimingOptions{}; }
};

// `kind`: of one kind alone (product, attention, gdn), or empty.
void bench_ops(const BenchOptions& options, const std::string& kind);
// `dir`: a checkpoint as qwen_shape() says.
void bench_model(const std::filesystem::path& dir, const BenchOptions& options);

}  // namespace llmservice::bench
