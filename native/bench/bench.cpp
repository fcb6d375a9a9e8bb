// llmservice_bench: prefill and decode speed of the engine on a model of Qwen3-0.6B's shape, random weights, in
// BF16 and FP8, beside the machine's measured memory bandwidth. Usage: llmservice_bench [REPEATS].
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "backends/cpu/topology.h"
#include "bandwidth.h"
#include "engine/engine.h"
#include "median.h"
#include "random_checkpoint.h"

namespace llmservice::bench {
namespace {

constexpr int32_t kDecodes = 16;  // timed steps per sequence after its prompt
constexpr int32_t kBlock = 32;
constexpr int32_t kMaxLength = 576;

struct Load {
  int32_t sequences;  // decoded together
  int32_t prompt;     // tokens of each
};

std::unique_ptr<Engine> load(const std::filesystem::path& dir, const Load& load) {
  const EngineOptions options{.model_dir = dir,
                              .block_size = kBlock,
                              .num_blocks = load.sequences * kMaxLength / kBlock,
                              .max_num_seqs = load.sequences,
                              .max_model_len = kMaxLength,
                              .max_num_batched_tokens = load.prompt + 64};
  return std::make_unique<Engine>(options, make_cpu_backend({}), [](auto, auto) {});
}

struct Times {
  std::vector<double> prefill;  // seconds of each prompt
  std::vector<double> decode;   // seconds of each step of all sequences
};

// Prefills the prompts one by one, then decodes all sequences together.
void run_round(Engine& engine, const Load& load, Times& times) {
  StepPlan release;
  StepPlan decode;
  for (int32_t slot = 0; slot < load.sequences; ++slot) {
    StepPlan plan;
    std::vector<int32_t> prompt(load.prompt);
    for (int32_t i = 0; i < load.prompt; ++i) prompt[i] = (i * 7919 + slot * 104729) % 151936;
    plan.admit.push_back({.slot = slot,
                          .tokens = std::move(prompt),
                          .prompt_length = load.prompt,
                          .max_length = kMaxLength,
                          .stop_tokens = {},
                          .sampling = {}});
    for (int32_t i = 0; i < kMaxLength / kBlock; ++i) {
      plan.blocks.push_back({slot, slot * (kMaxLength / kBlock) + i});
    }
    plan.rows = {{slot, load.prompt}};
    times.prefill.push_back(seconds_of([&] { engine.step(plan); }));
    decode.rows.push_back({slot, 1});
    release.release.push_back(slot);
  }
  for (int32_t i = 0; i < kDecodes; ++i) times.decode.push_back(seconds_of([&] { engine.step(decode); }));
  engine.step(release);
}

void report(const char* name, WeightFormat format, int repeats, double bandwidth) {
  const RandomCheckpoint checkpoint(format);
  for (const Load& work : {Load{1, 512}, Load{4, 64}}) {
    const auto engine = load(checkpoint.dir(), work);
    Times times;
    for (int i = 0; i < repeats; ++i) run_round(*engine, work, times);
    const double step = median(times.decode);
    // Each step reads every weight once, however many sequences share it.
    const double read = static_cast<double>(engine->info().weight_bytes) / step;
    std::printf("%-5s %9d %7d %14.1f %13.2f %13.2f %10.0f %%\n", name, work.sequences, work.prompt,
                work.prompt / median(times.prefill), work.sequences / step, read / 1e9, 100 * read / bandwidth);
    std::fflush(stdout);
  }
}

int run(int repeats) {
  cpu::ThreadPool pool(cpu::usable_cores());
  const double bandwidth = read_bandwidth(pool, repeats);
  std::printf("Qwen3-0.6B's shape, random weights; %d threads, %s; medians of %d rounds\n", pool.threads(),
              make_cpu_backend({})->isa(), repeats);
  std::printf("memory read bandwidth, all threads: %.2f GB/s\n\n", bandwidth / 1e9);
  std::printf("%-5s %9s %7s %14s %13s %13s %12s\n", "", "sequences", "prompt", "prefill tok/s", "decode tok/s",
              "weights GB/s", "of bandwidth");
  report("BF16", WeightFormat::kBf16, repeats, bandwidth);
  report("FP8", WeightFormat::kFp8, repeats, bandwidth);
  return 0;
}

}  // namespace
}  // namespace llmservice::bench

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 5;
  if (argc > 2 || repeats < 1) {
    std::fprintf(stderr, "usage: llmservice_bench [REPEATS]\n");
    return 2;
  }
  try {
    return llmservice::bench::run(repeats);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
