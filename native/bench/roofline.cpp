#include "roofline.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "backends/cpu/topology.h"
#include "median.h"
#include "peaks.h"

namespace llmservice::bench {
namespace {

constexpr double kSampleSeconds = 3e-3;
constexpr double kSpinSeconds = 20e-6;

void spin(double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds) {
  }
}

struct Part {
  const char* name;
  void (*measure)(Roofline&);
};
constexpr Part kParts[] = {{"products", measure_products},
                           {"attention", measure_attention},
                           {"gdn", measure_gdn},
                           {"rows", measure_row_ops}};

}  // namespace

Roofline::Roofline(int rounds)
    : rounds_(rounds), backend_(make_cpu_backend({})), probe_(backend_->threads()) {
  // Of amx too: there its tiles' rate is not measured.
  const std::vector<std::string> isas = cpu_isas();
  if (std::ranges::find(isas, "avx512bf16") != isas.end()) {
    float32_ = peak_of(run_float32_adds, kFloat32Adds);
    bf16_ = peak_of(run_bf16_adds, kBf16Adds);
  }
  std::printf("%d threads, %s, medians of %d", backend_->threads(), backend_->isa(), rounds);
  if (bf16_ > 0) std::printf("; peaks: float32 %.0f GF/s, BF16 pairs %.0f GF/s", float32_ / 1e9, bf16_ / 1e9);
  const double spun = seconds_of_each(
      [&](int64_t) { backend_->run_on_host(backend_->threads(), [](int64_t, int) { spin(kSpinSeconds); }); });
  std::printf("; a job of %.0f µs on each thread takes %.1f µs\n", kSpinSeconds * 1e6, spun * 1e6);
  std::printf(
      "| kernel | rows | MB | MF | µs | µs, data in cache | GB/s | of bandwidth | GF/s | of peak |\n");
  std::printf("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
}

double Roofline::peak_of(float (*run)(int64_t), int64_t adds) {
  constexpr int64_t kSteps = 300'000;
  std::vector<float> sinks(static_cast<size_t>(backend_->threads()));
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    const double seconds = seconds_of([&] {
      backend_->run_on_host(backend_->threads(), [&](int64_t job, int) { sinks[job] += run(kSteps); });
    });
    best = std::max(best, 2.0 * kSteps * static_cast<double>(adds * backend_->threads()) / seconds);
  }
  // The sums are used, so that the compiler keeps the loops.
  if (std::ranges::any_of(sinks, [](float sum) { return sum < 0; })) std::printf("!");
  return best;
}

double Roofline::seconds_of_each(const std::function<void(int64_t)>& call) const {
  int64_t index = 0;
  const auto run = [&](int64_t calls) {
    return seconds_of([&] {
      for (int64_t i = 0; i < calls; ++i) call(index++);
    });
  };
  run(1);  // touches memory
  const double once = std::max(run(1), 1e-8);
  const auto calls = static_cast<int64_t>(std::clamp(kSampleSeconds / once, 1.0, 1e5));
  std::vector<double> samples;
  for (int i = 0; i < rounds_; ++i) samples.push_back(run(calls) / static_cast<double>(calls));
  return median(samples);
}

void Roofline::measure(const Work& work, const std::function<void(int64_t)>& call,
                       const std::function<void(int64_t)>& cached) {
  const double before = probe_.measure();
  const double seconds = seconds_of_each(call);
  const double bandwidth = std::max(before, probe_.measure());
  std::printf("| %s | %lld | %.2f | %.1f | %.1f |", work.name.c_str(), static_cast<long long>(work.rows),
              work.bytes / 1e6, work.flops / 1e6, seconds * 1e6);
  if (cached != nullptr) {
    std::printf(" %.1f |", seconds_of_each(cached) * 1e6);
  } else {
    std::printf(" |");
  }
  std::printf(" %.1f | %.0f %% |", work.bytes / seconds / 1e9, 100 * work.bytes / seconds / bandwidth);
  const double most = peak(work.peak);
  if (most > 0) {
    std::printf(" %.1f | %.0f %% |\n", work.flops / seconds / 1e9, 100 * work.flops / seconds / most);
  } else {
    std::printf(" %.1f | – |\n", work.flops / seconds / 1e9);
  }
  std::fflush(stdout);
}

void report_roofline(int rounds, const std::vector<std::string>& parts) {
  for (const std::string& name : parts) {
    if (std::ranges::none_of(kParts, [&](const Part& part) { return name == part.name; })) {
      throw std::invalid_argument("'" + name + "' is none of products, attention, gdn and rows.");
    }
  }
  Roofline roofline(rounds);
  for (const Part& part : kParts) {
    if (parts.empty() || std::ranges::find(parts, part.name) != parts.end()) part.measure(roofline);
  }
}

}  // namespace llmservice::bench
