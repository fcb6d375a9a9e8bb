#include "whole_model.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "backends/cpu/topology.h"
#include "median.h"
#include "peaks.h"
#include "random_checkpoint.h"

namespace llmservice::bench {
namespace {

constexpr int32_t kDecodes = 16;  // timed steps per sequence after its prompt
constexpr int32_t kBlock = 32;

int32_t blocks_of(const Load& load) { return (load.prompt + kDecodes) / kBlock + 1; }

int64_t resident_bytes() {
  int64_t pages_in_all = 0;
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages_in_all >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

// Multiply-adds per second that all threads reach in registers alone; 0 on machines without pairs of BF16.
double peak_bf16_adds(cpu::ThreadPool& pool) {
  constexpr int64_t kSteps = 1'000'000;
  constexpr int kSamples = 5;
  double best = 0;
  std::vector<float> sums(pool.threads());
  for (int i = 0; i < kSamples; ++i) {
    const double seconds = seconds_of(
        [&] { pool.run(pool.threads(), [&](int64_t tile, int) { sums[tile] = run_bf16_adds(kSteps); }); });
    best = std::max(best, static_cast<double>(kSteps * kBf16Adds * pool.threads()) / seconds);
  }
  return sums[0] == 0 ? 0 : best;
}

}  // namespace

std::unique_ptr<Engine> load_engine(const std::filesystem::path& dir, const Load& load, const char* isa) {
  const EngineOptions options{.checkpoint = read_description(dir),
                              .block_size = kBlock,
                              .num_blocks = load.sequences * blocks_of(load),
                              .max_num_seqs = load.sequences,
                              .max_model_len = blocks_of(load) * kBlock,
                              .max_num_batched_tokens = load.prompt + 64};
  return std::make_unique<Engine>(options, make_cpu_backend({.isa = isa}), [](auto, auto) {});
}

void run_round(Engine& engine, const Load& load, BandwidthProbe& probe, Rounds& rounds) {
  const int32_t blocks = blocks_of(load);
  StepPlan release;
  StepPlan decode;
  for (int32_t slot = 0; slot < load.sequences; ++slot) {
    StepPlan plan;
    std::vector<int32_t> prompt(load.prompt);
    for (int32_t i = 0; i < load.prompt; ++i) prompt[i] = (i * 7919 + slot * 104729) % 151936;
    plan.admit.push_back({.slot = slot,
                          .tokens = std::move(prompt),
                          .prompt_length = load.prompt,
                          .max_length = blocks * kBlock,
                          .stop_tokens = {},
                          .sampling = {}});
    for (int32_t i = 0; i < blocks; ++i) plan.blocks.push_back({slot, slot * blocks + i});
    plan.rows = {{slot, load.prompt}};
    const double seconds = seconds_of([&] { engine.step(plan); });
    if (slot == 0) rounds.prefill.push_back(seconds);
    decode.rows.push_back({slot, 1});
    release.release.push_back(slot);
  }
  rounds.bandwidth.push_back(probe.measure());
  // All steps, as llama-batched-bench counts them: a step that others held up is one of them.
  const double seconds = seconds_of([&] {
    for (int32_t i = 0; i < kDecodes; ++i) engine.step(decode);
  });
  rounds.decode.push_back(seconds / kDecodes);
  engine.step(release);
}

double bytes_of_decode(const EngineInfo& info, const ModelShape& shape, const Load& load) {
  const auto weights = static_cast<double>(info.weight_bytes);
  const double context = load.prompt + kDecodes / 2.0;
  const double kv = context / kBlock * static_cast<double>(info.kv_bytes_per_block);
  return weights * shape.share_read(load.sequences) + load.sequences * kv;
}

void print_measurements(const std::filesystem::path& dir, const ModelShape& shape, const char* isa,
                        const std::vector<Load>& loads) {
  BandwidthProbe probe(cpu::usable_cores());
  cpu::ThreadPool pool(cpu::usable_cores());
  for (const Load& load : loads) {
    std::unique_ptr<Engine> engine;
    const int64_t before = resident_bytes();
    const double loading = seconds_of([&] { engine = load_engine(dir, load, isa); });
    // Once before it counts, as llama-bench does: memory touched first costs its pages.
    Rounds warm;
    run_round(*engine, load, probe, warm);
    Rounds rounds;
    run_round(*engine, load, probe, rounds);
    const int64_t taken = resident_bytes() - before;
    const double peak = peak_bf16_adds(pool);
    const double prefill = rounds.prefill[0];
    const nlohmann::json line = {
        {"sequences", load.sequences},
        {"prompt", load.prompt},
        {"prefill", load.prompt / prefill},
        {"decode", load.sequences / rounds.decode[0]},
        {"ofBandwidth",
         bytes_of_decode(engine->info(), shape, load) / rounds.decode[0] / rounds.bandwidth[0]},
        {"bandwidth", rounds.bandwidth[0]},
        {"ofPeak", peak == 0 ? 0 : shape.multiply_adds(load.prompt) / prefill / peak},
        {"peak", peak},
        {"loadSeconds", loading},
        {"weightBytes", engine->info().weight_bytes},
        {"kvBytes", engine->info().kv_bytes_per_block * load.sequences * blocks_of(load)},
        {"residentBytes", taken}};
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  }
}

}  // namespace llmservice::bench
