// Operation by operation at the model's shapes.
#include <cstdio>

#include "bench.h"
#include "op_case.h"

namespace llmservice::bench {
namespace {

OpSizes sizes_for(bool quick) {
  if (quick) {
    return {.model = kTinyQwen,
            .rotated_bytes = 1,
            .rows = {1, 5},
            .context = {70},
            .sequences = 2,
            .prompt = 64,
            .long_prompt = 128};
  }
  return {.model = kQwen27B,
          .rotated_bytes = int64_t{512} << 20,
          .rows = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192},
          .context = {1024, 8192, 32768},
          .sequences = 16,
          .prompt = 2048,
          .long_prompt = 8192};
}

}  // namespace

double micros_of(gpu::Stopwatch& stopwatch, const OpCase& op, bool quick) {
  gpu::Launches launches;
  // Every copy the same number of times, and enough of them for the time of an event not to count.
  const int rounds = quick ? 1 : (8 + op.copies - 1) / op.copies;
  for (int i = 0; i < rounds * op.copies; ++i) {
    const gpu::Launches one = op.launches(i % op.copies);
    launches.insert(launches.end(), one.begin(), one.end());
  }
  return stopwatch.micros(launches) / (rounds * op.copies);
}

void bench_ops(const BenchOptions& options, const std::string& kind) {
  gpu::Device device(0);
  gpu::Stopwatch stopwatch(device, options.timing());
  const OpVisitor time = [&](const OpCase& op) {
    if (!kind.empty() && op.what.at("op") != kind) return;
    nlohmann::json line = op.what;
    line["section"] = "op";
    line["bytes"] = op.bytes;
    line["flops"] = op.flops;
    line["eight_bit"] = op.eight_bit;
    line["micros"] = micros_of(stopwatch, op, options.quick);
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  };
  const OpSizes sizes = sizes_for(options.quick);
  visit_products(device, sizes, time);
  visit_attention(device, sizes, time);
  visit_gdn(device, sizes, time);
}

}  // namespace llmservice::bench
