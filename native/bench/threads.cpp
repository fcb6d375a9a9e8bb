// One thread and all take turns, in samples of a few milliseconds.
#include "threads.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <random>

#include "backends/cpu/topology.h"
#include "engine/samplers.h"
#include "engine/thread_seconds.h"
#include "median.h"

namespace llmservice::bench {
namespace {

constexpr int32_t kDim = 128;
constexpr int32_t kBlock = 32;
constexpr int32_t kGroup = 2;  // query heads per KV head
constexpr int32_t kVocab = 151936;
constexpr int64_t kRows = 8;

// Of `one` and `all` by turns: processor time of one, and of both the best time by the clock, which on a
// machine that others use is when both of its cores were free.
template <class One, class All>
void print_ratio(int rounds, double unit, const One& one, const All& all) {
  one();  // both touch memory first
  all();
  std::vector<double> spent;
  double best_one = std::numeric_limits<double>::max();
  double best_all = best_one;
  for (int i = 0; i < rounds; ++i) {
    const double begun = thread_seconds();
    best_one = std::min(best_one, seconds_of(one));
    spent.push_back(thread_seconds() - begun);
    best_all = std::min(best_all, seconds_of(all));
  }
  std::printf(" %10.1f %10.1f %10.1f %7.2f\n", median(spent) / unit, best_one / unit, best_all / unit,
              best_one / best_all);
  std::fflush(stdout);
}

void report_attention(int rounds, int threads, int32_t kv_heads, int32_t context) {
  const AttentionShape shape{kv_heads * kGroup, kv_heads, kDim, kBlock, DType::kBF16, 0.088f};
  const int64_t width = int64_t{shape.heads} * kDim;
  const int64_t values = int64_t{context} * kv_heads * kDim;
  std::vector<uint16_t> k(values);
  std::vector<uint16_t> v(values);
  std::mt19937 random(1);
  for (int64_t i = 0; i < values; ++i) {
    k[i] = static_cast<uint16_t>(random() & 0xbfff);  // BF16 of magnitudes below two
    v[i] = static_cast<uint16_t>(random() & 0xbfff);
  }
  std::vector<int32_t> blocks(context / kBlock);
  std::iota(blocks.begin(), blocks.end(), 0);
  const Segment last{0, 1, context - 1, 0, blocks.data(), 0};
  const std::vector<float> q(width, 0.3f);
  std::vector<float> out(width);
  const KvCache cache{k.data(), v.data()};
  const auto one = make_cpu_backend({.threads = 1});
  const auto all = make_cpu_backend({.threads = threads});
  const int calls = std::max(1, (1 << 16) / context);
  const auto attend = [&](Backend& backend) {
    for (int i = 0; i < calls; ++i) backend.attention(shape, {&last, 1}, q.data(), width, cache, out.data());
  };
  std::printf("attention, %d KV heads, %6d positions    ", kv_heads, context);
  print_ratio(
      rounds, calls * 1e-6, [&] { attend(*one); }, [&] { attend(*all); });
}

void report_sampling(int rounds, int threads, const char* name, const SamplingParams& params) {
  std::vector<float> logits(kRows * kVocab);
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 3);
  for (float& x : logits) x = normal(random);
  const auto one = make_cpu_backend({.threads = 1});
  const auto all = make_cpu_backend({.threads = threads});
  Samplers alone(*one, kVocab);
  Samplers together(*all, kVocab);
  const auto sample = [&](Samplers& samplers) {
    samplers.run(kRows, [&](int64_t row, Sampler& sampler) {
      sampler.sample(std::span(logits).subspan(row * kVocab, kVocab), params, {}, static_cast<int32_t>(row));
    });
  };
  std::printf("a row of %lld, %-29s", static_cast<long long>(kRows), name);
  print_ratio(
      rounds, kRows * 1e-6, [&] { sample(alone); }, [&] { sample(together); });
}

}  // namespace

void report_threads(int rounds) {
  const int threads = cpu::usable_cores();
  std::printf("%d threads, %s, %d rounds, µs\n", threads, cpu_isas().back().c_str(), rounds);
  std::printf("%-42s %10s %10s %10s %7s\n", "", "CPU of one", "best, one", "best, all", "ratio");
  for (const int32_t context : {512, 1024, 8192, 32768}) report_attention(rounds, threads, 1, context);
  for (const int32_t kv_heads : {2, 8}) report_attention(rounds, threads, kv_heads, 8192);
  report_sampling(rounds, threads, "greedy", {});
  report_sampling(rounds, threads, "greedy, 5 alternatives", {.top_logprobs = 5});
  report_sampling(rounds, threads, "0.6", {.temperature = 0.6F});
  report_sampling(rounds, threads, "0.6, top_p 0.95", {.temperature = 0.6F, .top_p = 0.95F});
  report_sampling(rounds, threads, "0.6, top_p 0.95, top_k 20",
                  {.temperature = 0.6F, .top_p = 0.95F, .top_k = 20});
  report_sampling(rounds, threads, "1, min_p 0.05", {.temperature = 1, .min_p = 0.05F});
}

}  // namespace llmservice::bench
