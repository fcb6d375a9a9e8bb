#include "adapters.h"

#include <cstdio>
#include <fstream>
#include <vector>

#include "engine/engine.h"
#include "median.h"
#include "random_checkpoint.h"

namespace llmservice::bench {
namespace {

constexpr int32_t kSequences = 32;
constexpr int32_t kRank = 16;
constexpr int32_t kPrompt = 16;
constexpr int32_t kSteps = 12;  // timed in each round
constexpr int32_t kBlock = 32;
constexpr int32_t kMaxLength = 64;

struct Sides {
  Projection projection;
  int64_t inputs;
  int64_t outputs;
};

std::vector<Sides> sides_of(const ModelConfig& c) {
  const int64_t q = int64_t{c.heads} * c.head_dim;
  const int64_t kv = int64_t{c.kv_heads} * c.head_dim;
  return {{Projection::kQProj, c.hidden, q},
          {Projection::kKProj, c.hidden, kv},
          {Projection::kVProj, c.hidden, kv},
          {Projection::kOProj, q, c.hidden},
          {Projection::kGateProj, c.hidden, c.intermediate},
          {Projection::kUpProj, c.hidden, c.intermediate},
          {Projection::kDownProj, c.intermediate, c.hidden}};
}

// Pairs of all linear layers, in BF16, and a file that holds them.
std::vector<AdapterPair> write_pairs(const ModelConfig& config, const std::filesystem::path& path) {
  std::vector<AdapterPair> pairs;
  std::vector<uint16_t> values;
  uint32_t random = 1;
  const auto add = [&](int64_t count) {
    const auto offset = static_cast<int64_t>(values.size() * sizeof(uint16_t));
    for (int64_t i = 0; i < count; ++i) {
      random = random * 1664525 + 1013904223;
      values.push_back(
          static_cast<uint16_t>(0x3c00 | (random >> 31) << 15 | (random >> 20 & 0x7f)));  // ±1/128
    }
    return offset;
  };
  for (int32_t layer = 0; layer < static_cast<int32_t>(config.layers.size()); ++layer) {
    for (const auto& [projection, inputs, outputs] : sides_of(config)) {
      pairs.push_back({.layer = layer,
                       .projection = projection,
                       .rank = kRank,
                       .scale = 1,
                       .a_dtype = AdapterDtype::kBF16,
                       .a_offset = add(kRank * inputs),
                       .b_dtype = AdapterDtype::kBF16,
                       .b_offset = add(outputs * kRank)});
    }
  }
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(uint16_t)));
  return pairs;
}

// Tokens per second of all sequences, of which number i uses adapter_of(i).
template <class AdapterOf>
double decode(Engine& engine, const AdapterOf& adapter_of) {
  StepPlan prefill;
  StepPlan step;
  StepPlan release;
  for (int32_t slot = 0; slot < kSequences; ++slot) {
    std::vector<int32_t> prompt(kPrompt);
    for (int32_t i = 0; i < kPrompt; ++i) prompt[i] = (i * 7919 + slot * 104729) % 151936;
    Admission admission{.slot = slot, .tokens = std::move(prompt)};
    admission.prompt_length = kPrompt;
    admission.max_length = kMaxLength;
    admission.adapter = adapter_of(slot);
    prefill.admit.push_back(std::move(admission));
    for (int32_t i = 0; i < kMaxLength / kBlock; ++i) {
      prefill.blocks.push_back({slot, slot * (kMaxLength / kBlock) + i});
    }
    prefill.rows.push_back({slot, kPrompt});
    step.rows.push_back({slot, 1});
    release.release.push_back(slot);
  }
  engine.step(prefill);
  std::vector<double> seconds;
  for (int32_t i = 0; i < kSteps; ++i) seconds.push_back(seconds_of([&] { engine.step(step); }));
  engine.step(release);
  return kSequences / median(seconds);
}

}  // namespace

void report_adapters(int rounds) {
  const RandomCheckpoint checkpoint(shape_of("qwen3"), WeightFormat::kBf16);
  const EngineOptions options{.checkpoint = read_description(checkpoint.dir()),
                              .block_size = kBlock,
                              .num_blocks = kSequences * kMaxLength / kBlock,
                              .max_num_seqs = kSequences,
                              .max_model_len = kMaxLength,
                              .max_num_batched_tokens = kSequences * kPrompt + 64};
  Engine engine(options, make_cpu_backend({}), [](auto, auto) {});
  const std::filesystem::path file = checkpoint.dir() / "adapter";
  const std::vector<AdapterPair> pairs = write_pairs(options.checkpoint->config, file);
  std::vector<double> loads;
  for (int32_t number = 1; number <= kSequences; ++number) {
    loads.push_back(seconds_of([&] {
      engine.load_adapter({.number = number, .file = file.string(), .pairs = pairs, .last = true});
    }));
  }
  std::vector<double> base, one, each;
  for (int i = 0; i < rounds; ++i) {
    base.push_back(decode(engine, [](int32_t) { return 0; }));
    one.push_back(decode(engine, [](int32_t) { return 1; }));
    each.push_back(decode(engine, [](int32_t slot) { return slot + 1; }));
  }
  std::printf(
      "%d sequences of Qwen3-0.6B's scale in BF16, adapters of rank %d and of all linear layers, %.1f MB "
      "each;\n"
      "%d threads, %s; medians of %d rounds\n\n",
      kSequences, kRank, static_cast<double>(std::filesystem::file_size(file)) / 1e6, engine.info().threads,
      engine.info().isa.c_str(), rounds);
  const auto line = [&](const char* what, const std::vector<double>& speeds) {
    std::printf("%-24s %10.1f tok/s %8.2f of the base\n", what, median(speeds),
                median(speeds) / median(base));
  };
  line("the base alone", base);
  line("one adapter for all", one);
  line("an adapter each", each);
  std::printf("\nan adapter loads in %.0f ms\n", 1e3 * median(loads));
}

}  // namespace llmservice::bench
