#include "adapters.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "engine/engine.h"
#include "median.h"
#include "random_checkpoint.h"

namespace llmservice::bench {
namespace {

constexpr int32_t kSequences = 32;
constexpr int32_t kRank = 16;
constexpr int32_t kPrompt = 4;
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

// What all sequences of a batch use.
struct Contender {
  const char* name;
  int32_t (*adapter_of)(int32_t sequence);
};
constexpr Contender kContenders[] = {
    {"the base alone", [](int32_t) { return 0; }},
    {"one adapter for all", [](int32_t) { return 1; }},
    {"an adapter each", [](int32_t sequence) { return sequence + 1; }},
};
constexpr int32_t kSlots = kSequences * static_cast<int32_t>(std::size(kContenders));

// Admits a batch's sequences, from slot `first` on; returns the step that decodes them.
StepPlan begin(Engine& engine, const Contender& contender, int32_t first) {
  StepPlan prefill;
  StepPlan step;
  for (int32_t sequence = 0; sequence < kSequences; ++sequence) {
    const int32_t slot = first + sequence;
    std::vector<int32_t> prompt(kPrompt);
    for (int32_t i = 0; i < kPrompt; ++i) prompt[i] = (i * 7919 + sequence * 104729) % 151936;
    Admission admission{.slot = slot, .tokens = std::move(prompt)};
    admission.prompt_length = kPrompt;
    admission.max_length = kMaxLength;
    admission.adapter = contender.adapter_of(sequence);
    prefill.admit.push_back(std::move(admission));
    for (int32_t i = 0; i < kMaxLength / kBlock; ++i) {
      prefill.blocks.push_back({slot, slot * (kMaxLength / kBlock) + i});
    }
    prefill.rows.push_back({slot, kPrompt});
    step.rows.push_back({slot, 1});
  }
  engine.step(prefill);
  return step;
}

}  // namespace

void report_adapters(int steps, WeightFormat format) {
  const RandomCheckpoint checkpoint(shape_of("qwen3"), format);
  const EngineOptions options{.checkpoint = read_description(checkpoint.dir()),
                              .block_size = kBlock,
                              .num_blocks = kSlots * kMaxLength / kBlock,
                              .max_num_seqs = kSlots,
                              .max_model_len = kMaxLength,
                              .max_num_batched_tokens = kSequences * kPrompt + 64,
                              .max_adapter_rank = kRank};
  Engine engine(options, make_cpu_backend({}), [](auto, auto) {});
  const std::filesystem::path file = checkpoint.dir() / "adapter";
  const std::vector<AdapterPair> pairs = write_pairs(options.checkpoint->config, file);
  std::vector<double> loads;
  for (int32_t number = 1; number <= kSequences; ++number) {
    loads.push_back(seconds_of([&] {
      engine.load_adapter({.number = number, .file = file.string(), .pairs = pairs, .last = true});
    }));
  }
  std::vector<StepPlan> plans;
  for (const Contender& contender : kContenders) {
    plans.push_back(begin(engine, contender, kSequences * static_cast<int32_t>(plans.size())));
  }
  std::vector<std::vector<double>> seconds(plans.size());
  // Step by step in turn: what else the machine does slows all of them.
  for (int i = 0; i < std::min(steps, kMaxLength - kPrompt - 1); ++i) {
    for (size_t each = 0; each < plans.size(); ++each) {
      seconds[each].push_back(seconds_of([&] { engine.step(plans[each]); }));
    }
  }
  std::printf(
      "%d sequences of Qwen3-0.6B's scale in %s, adapters of rank %d and of all linear layers, %.1f MB "
      "each;\n"
      "%d threads, %s; medians of %zu steps of each, in turn\n\n",
      kSequences, format == WeightFormat::kFp8 ? "FP8" : "BF16", kRank,
      static_cast<double>(std::filesystem::file_size(file)) / 1e6, engine.info().threads,
      engine.info().isa.c_str(), seconds.front().size());
  for (size_t each = 0; each < plans.size(); ++each) {
    std::printf("%-24s %10.1f tok/s %8.2f of the base\n", kContenders[each].name,
                kSequences / median(seconds[each]), median(seconds.front()) / median(seconds[each]));
  }
  std::printf("\nan adapter loads in %.0f ms\n", 1e3 * median(loads));
}

}  // namespace llmservice::bench
