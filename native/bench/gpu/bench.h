// The parts of llmservice_gpu_bench: each prints one JSON object per line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backends/gpu/kernels/matmul.h"
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

// Ways in which products of few rows may use the device beside what runs before and after them. The first is
// how they do.
const std::vector<gpu::ProductTuning>& tunings();
// Products of few rows, and a token of one sequence of the model of bench_model(), with each of them.
void bench_tunings(const std::filesystem::path& dir, const BenchOptions& options);
void bench_product_tunings(const BenchOptions& options);

}  // namespace llmservice::bench
