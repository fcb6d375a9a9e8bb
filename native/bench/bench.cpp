// llmservice_bench: prefill and decode speed of the engine on random weights in BF16 and FP8, by
// architecture, beside the memory bandwidth measured in the same minute.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "backends/cpu/topology.h"
#include "bandwidth.h"
#include "engine/engine.h"
#include "median.h"
#include "products.h"
#include "random_checkpoint.h"
#include "threads.h"

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
  const EngineOptions options{.checkpoint = read_description(dir),
                              .block_size = kBlock,
                              .num_blocks = load.sequences * kMaxLength / kBlock,
                              .max_num_seqs = load.sequences,
                              .max_model_len = kMaxLength,
                              .max_num_batched_tokens = load.prompt + 64};
  return std::make_unique<Engine>(options, make_cpu_backend({}), [](auto, auto) {});
}

// One entry per round.
struct Rounds {
  std::vector<double> prefill;    // seconds of the first prompt
  std::vector<double> decode;     // seconds of a step of all sequences, median of the round's steps
  std::vector<double> bandwidth;  // bytes per second, measured beside that round's decode
};

// Prefills the prompts one by one, then decodes all sequences together.
void run_round(Engine& engine, const Load& load, BandwidthProbe& probe, Rounds& rounds) {
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
    const double seconds = seconds_of([&] { engine.step(plan); });
    if (slot == 0) rounds.prefill.push_back(seconds);
    decode.rows.push_back({slot, 1});
    release.release.push_back(slot);
  }
  rounds.bandwidth.push_back(probe.measure());
  std::vector<double> steps;
  for (int32_t i = 0; i < kDecodes; ++i) steps.push_back(seconds_of([&] { engine.step(decode); }));
  rounds.decode.push_back(median(steps));
  engine.step(release);
}

// The model in `dir`, which has the named architecture's shape.
void report(std::string_view architecture, const char* format, const std::filesystem::path& dir, int repeats,
            BandwidthProbe& probe) {
  const ModelShape shape = shape_of(architecture);
  for (const Load& work : {Load{1, 512}, Load{4, 64}}) {
    const auto engine = load(dir, work);
    Rounds rounds;
    for (int i = 0; i < repeats; ++i) run_round(*engine, work, probe, rounds);
    // A step reads each weight at most once, however many sequences share it, and each sequence's KV. The
    // share of the bandwidth is taken round by round, since others may load the machine more in one than in
    // the next.
    const auto weights = static_cast<double>(engine->info().weight_bytes);
    const double context = work.prompt + kDecodes / 2.0;
    const double kv = context / kBlock * static_cast<double>(engine->info().kv_bytes_per_block);
    const double bytes = weights * shape.share_read(work.sequences) + work.sequences * kv;
    std::vector<double> share;
    for (int i = 0; i < repeats; ++i) share.push_back(bytes / rounds.decode[i] / rounds.bandwidth[i]);
    const double step = median(rounds.decode);
    std::printf("%-16s %-5s %9d %7d %14.1f %13.2f %13.2f %15.2f %10.0f %%\n",
                std::string(architecture).c_str(), format, work.sequences, work.prompt,
                work.prompt / median(rounds.prefill), work.sequences / step, bytes / step / 1e9,
                median(rounds.bandwidth) / 1e9, 100 * median(share));
    std::fflush(stdout);
  }
}

void report_random(std::string_view architecture, WeightFormat format, int repeats, BandwidthProbe& probe) {
  const RandomCheckpoint checkpoint(shape_of(architecture), format);
  report(architecture, format == WeightFormat::kBf16 ? "BF16" : "FP8", checkpoint.dir(), repeats, probe);
}

void print_head(int repeats, const BandwidthProbe& probe) {
  std::printf("models of Qwen3-0.6B's scale, random weights; %d threads, %s; medians of %d rounds\n\n",
              probe.threads(), make_cpu_backend({})->isa(), repeats);
  std::printf("%-16s %-5s %9s %7s %14s %13s %13s %15s %12s\n", "", "", "sequences", "prompt", "prefill tok/s",
              "decode tok/s", "read GB/s", "bandwidth GB/s", "of bandwidth");
}

constexpr const char* kUsage =
    "usage: llmservice_bench [REPEATS [ARCHITECTURE...|all]]        qwen3 when none is named\n"
    "       llmservice_bench products [ROUNDS [FAMILY...]]          products alone, family beside family\n"
    "       llmservice_bench threads [ROUNDS]                       attention and sampling, one thread and "
    "all\n"
    "       llmservice_bench write FOLDER ARCHITECTURE              the BF16 checkpoint alone\n"
    "       llmservice_bench stored FOLDER ARCHITECTURE FORMAT REPEATS   one made of that, described in "
    "description.json\n";

int main_of(std::vector<std::string> args) {
  if (args.size() == 3 && args[0] == "write") {
    write_random_checkpoint(args[1], shape_of(args[2]), WeightFormat::kBf16);
    return 0;
  }
  if (!args.empty() && args[0] == "products") {
    const int rounds = args.size() > 1 ? std::max(std::atoi(args[1].c_str()), 1) : 7;
    report_products(rounds, {args.begin() + std::min<size_t>(args.size(), 2), args.end()});
    return 0;
  }
  if (!args.empty() && args[0] == "threads") {
    report_threads(args.size() > 1 ? std::max(std::atoi(args[1].c_str()), 1) : 40);
    return 0;
  }
  const bool stored = args.size() == 5 && args[0] == "stored";
  const int repeats = args.empty() ? 5 : std::atoi((stored ? args[4] : args[0]).c_str());
  if (repeats < 1) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  BandwidthProbe probe(cpu::usable_cores());
  print_head(repeats, probe);
  if (stored) {
    report(args[2], args[3].c_str(), args[1], repeats, probe);
    return 0;
  }
  std::vector<std::string_view> architectures(args.begin() + std::min<size_t>(args.size(), 1), args.end());
  if (architectures.empty()) architectures = {"qwen3"};
  if (architectures.front() == "all") architectures = benchmarked_architectures();
  for (const std::string_view architecture : architectures) {
    report_random(architecture, WeightFormat::kBf16, repeats, probe);
    report_random(architecture, WeightFormat::kFp8, repeats, probe);
  }
  return 0;
}

}  // namespace
}  // namespace llmservice::bench

int main(int argc, char** argv) {
  try {
    return llmservice::bench::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
