// Products of few rows with each tuning.
#include <cstdio>

#include "bench.h"
#include "op_case.h"

namespace llmservice::bench {

const std::vector<gpu::ProductTuning>& tunings() {
  constexpr int64_t kMiB = 1 << 20;
  static const std::vector<gpu::ProductTuning> all = {
      {1, 0}, {2, 0}, {1, 8 * kMiB}, {1, 16 * kMiB}, {1, 32 * kMiB}, {2, 8 * kMiB}, {2, 16 * kMiB}};
  return all;
}

void bench_product_tunings(const BenchOptions& options) {
  gpu::Device device(0);
  gpu::Stopwatch stopwatch(device, options.timing());
  const OpSizes sizes{.model = options.quick ? kTinyQwen : kQwen27B,
                      .rotated_bytes = options.quick ? 1 : int64_t{512} << 20,
                      .rows = {1, 16},
                      .context = {},
                      .sequences = 1,
                      .prompt = 0,
                      .long_prompt = 0,
                      .tunings = tunings(),
                      .probes = true};
  visit_products(device, sizes, [&](const OpCase& op) {
    nlohmann::json line = op.what;
    line.update(
        {{"section", "tuning"}, {"bytes", op.bytes}, {"micros", micros_of(stopwatch, op, options.quick)}});
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  });
}

}  // namespace llmservice::bench
