// llmservice_bench: prefill and decode speed of the engine on random weights in BF16 and FP8, by
// architecture, beside the memory bandwidth measured in the same minute.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "adapters.h"
#include "backends/cpu/topology.h"
#include "median.h"
#include "products.h"
#include "random_checkpoint.h"
#include "roofline.h"
#include "threads.h"
#include "whole_model.h"

namespace llmservice::bench {
namespace {

// The model in `dir`, which has the named architecture's shape.
void report(std::string_view architecture, const char* format, const std::filesystem::path& dir, int repeats,
            BandwidthProbe& probe) {
  const ModelShape shape = shape_of(architecture);
  for (const Load& work : {Load{1, 512}, Load{4, 64}}) {
    const auto engine = load_engine(dir, work);
    Rounds rounds;
    for (int i = 0; i < repeats; ++i) run_round(*engine, work, probe, rounds);
    // The share of the bandwidth is taken round by round, since others may load the machine more in one than
    // in the next.
    const double bytes = bytes_of_decode(engine->info(), shape, work);
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
    "       llmservice_bench roofline [ROUNDS [PART...]]            every kernel beside bandwidth and peak; "
    "products, attention, gdn, rows\n"
    "       llmservice_bench threads [ROUNDS]                       attention and sampling, one thread and "
    "all\n"
    "       llmservice_bench adapters [STEPS [BF16|FP8]]            32 LoRA adapters beside the base alone\n"
    "       llmservice_bench measure FOLDER ARCHITECTURE auto|ISA SEQUENCES:PROMPT...   one round each, as "
    "JSON\n"
    "       llmservice_bench write FOLDER ARCHITECTURE BF16|FP8     the checkpoint alone\n"
    "       llmservice_bench stored FOLDER ARCHITECTURE FORMAT REPEATS   one made of that, described in "
    "description.json\n";

int main_of(std::vector<std::string> args) {
  if (args.size() == 4 && args[0] == "write" && (args[3] == "BF16" || args[3] == "FP8")) {
    write_random_checkpoint(args[1], shape_of(args[2]),
                            args[3] == "FP8" ? WeightFormat::kFp8 : WeightFormat::kBf16);
    return 0;
  }
  if (args.size() > 4 && args[0] == "measure") {
    std::vector<Load> loads;
    for (size_t i = 4; i < args.size(); ++i) {
      Load& load = loads.emplace_back();
      if (std::sscanf(args[i].c_str(), "%d:%d", &load.sequences, &load.prompt) != 2 || load.sequences < 1 ||
          load.prompt < 1) {
        throw std::invalid_argument("'" + args[i] + "' is not SEQUENCES:PROMPT, both at least 1.");
      }
    }
    print_measurements(args[1], shape_of(args[2]), args[3].c_str(), loads);
    return 0;
  }
  if (!args.empty() && args[0] == "products") {
    const int rounds = args.size() > 1 ? std::max(std::atoi(args[1].c_str()), 1) : 7;
    report_products(rounds, {args.begin() + std::min<size_t>(args.size(), 2), args.end()});
    return 0;
  }
  if (!args.empty() && args[0] == "roofline") {
    const int rounds = args.size() > 1 ? std::max(std::atoi(args[1].c_str()), 1) : 9;
    report_roofline(rounds, {args.begin() + std::min<size_t>(args.size(), 2), args.end()});
    return 0;
  }
  if (!args.empty() && args[0] == "threads") {
    report_threads(args.size() > 1 ? std::max(std::atoi(args[1].c_str()), 1) : 40);
    return 0;
  }
  if (!args.empty() && args[0] == "adapters" && (args.size() < 3 || args[2] == "BF16" || args[2] == "FP8")) {
    const bool fp8 = args.size() > 2 && args[2] == "FP8";
    report_adapters(args.size() > 1 ? std::max(std::atoi(args[1].c_str()), 1) : 40,
                    fp8 ? WeightFormat::kFp8 : WeightFormat::kBf16);
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
