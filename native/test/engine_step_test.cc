// Steps on a small hybrid model: what a sequence computes does not depend on how its steps are cut, on who
// runs alongside it, on preemption, or on another sequence's fault.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/engine.h"
#include "failures.h"
#include "ops/reference.h"
#include "tiny_checkpoint.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

class Steps : public ::testing::Test {
 protected:
  void SetUp() override { write_checkpoint(dir_, tiny_hybrid_config(), tiny_hybrid_tensors()); }

  std::unique_ptr<Engine> load() {
    const EngineOptions options{.checkpoint = dir_.checkpoint(),
                                .block_size = 16,
                                .num_blocks = 64,
                                .max_num_seqs = 8,
                                .max_model_len = 256,
                                .max_num_batched_tokens = 256,
                                .dtype = DType::kF32,
                                .threads = 0,
                                .isa = "auto"};
    return std::make_unique<Engine>(options, std::make_unique<ReferenceBackend>(), [](auto, auto) {});
  }

  TempDir dir_;
};

Admission admission(int32_t slot, std::vector<int32_t> tokens, int32_t prompt_length) {
  return {.slot = slot,
          .tokens = std::move(tokens),
          .prompt_length = prompt_length,
          .max_length = 240,
          .stop_tokens = {},
          .sampling = {.temperature = 0.8F, .top_p = 0.95F, .seed = 11, .top_logprobs = 3}};
}

// Gives slot `slot` the 12 blocks that belong to it.
void add_blocks(StepPlan& plan, int32_t slot) {
  for (int32_t i = 0; i < 12; ++i) plan.blocks.push_back({slot, slot * 12 + i});
}

struct Output {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;
  bool operator==(const Output&) const = default;
};

// Runs one sequence in slot 0: its prompt in the given chunks, then `decodes` tokens.
Output run_alone(Engine& engine, const Admission& a, const std::vector<int32_t>& chunks, int32_t decodes) {
  Output out;
  StepPlan plan;
  plan.admit = {a};
  add_blocks(plan, a.slot);
  std::vector<int32_t> counts = chunks;
  counts.resize(chunks.size() + decodes, 1);
  for (const int32_t count : counts) {
    plan.rows = {{a.slot, count}};
    const StepResult result = engine.step(plan);
    out.tokens.insert(out.tokens.end(), result.tokens.begin(), result.tokens.end());
    out.logprobs.insert(out.logprobs.end(), result.logprobs.begin(), result.logprobs.end());
    plan = {};
  }
  engine.step({.release = {a.slot}, .admit = {}, .blocks = {}, .rows = {}});
  return out;
}

TEST_F(Steps, SplitOfThePromptDoesNotMatter) {
  const auto engine = load();
  const Admission a = admission(0, prompt(150), 150);
  const Output whole_prompt = run_alone(*engine, a, {150}, 6);
  EXPECT_EQ(whole_prompt.tokens.size(), 7U);
  EXPECT_EQ(run_alone(*engine, a, {64, 64, 22}, 6), whole_prompt);
  EXPECT_EQ(run_alone(*engine, a, {128, 1, 21}, 6), whole_prompt);
}

TEST_F(Steps, NeighboursDoNotMatter) {
  const auto engine = load();
  constexpr int32_t kSequences = 5;
  std::vector<Output> alone;
  std::vector<Admission> all;
  for (int32_t s = 0; s < kSequences; ++s) {
    all.push_back(admission(s, prompt(3 + 9 * s, s), 3 + 9 * s));
    alone.push_back(run_alone(*engine, all[s], {3 + 9 * s}, 6));
  }
  // Sequence s joins at step s, so that prefills run alongside decodes.
  std::vector<Output> together(kSequences);
  for (int32_t step = 0; step < kSequences + 6; ++step) {
    StepPlan plan;
    if (step < kSequences) {
      plan.admit = {all[step]};
      add_blocks(plan, step);
    }
    for (int32_t s = 0; s < kSequences; ++s) {
      if (step >= s && step <= s + 6) plan.rows.push_back({s, step == s ? 3 + 9 * s : 1});
    }
    const StepResult result = engine->step(plan);
    for (size_t i = 0; i < result.slots.size(); ++i) {
      together[result.slots[i]].tokens.push_back(result.tokens[i]);
      together[result.slots[i]].logprobs.push_back(result.logprobs[i]);
    }
  }
  for (int32_t s = 0; s < kSequences; ++s) EXPECT_EQ(together[s], alone[s]) << "sequence " << s;
}

TEST_F(Steps, PreemptionDoesNotMatter) {
  const auto engine = load();
  const Output expected = run_alone(*engine, admission(0, prompt(70), 70), {70}, 9);
  const Output before = run_alone(*engine, admission(0, prompt(70), 70), {70}, 4);
  std::vector<int32_t> tokens = prompt(70);
  tokens.insert(tokens.end(), before.tokens.begin(), before.tokens.end());
  const Output after = run_alone(*engine, admission(3, tokens, 70), {75}, 4);
  const std::vector<int32_t> rest(expected.tokens.begin() + 5, expected.tokens.end());
  EXPECT_EQ(after.tokens, rest);
}

TEST_F(Steps, ReportsOneEntryPerSampledRowWithItsAlternatives) {
  const auto engine = load();
  StepPlan plan;
  plan.admit = {admission(0, prompt(5), 5), admission(1, prompt(70), 70), admission(2, prompt(6), 6)};
  plan.admit[2].sampling.top_logprobs = std::nullopt;
  for (const int32_t slot : {0, 1, 2}) add_blocks(plan, slot);
  plan.rows = {{2, 6}, {1, 64}, {0, 5}};
  const StepResult result = engine->step(plan);
  EXPECT_EQ(result.slots, (std::vector<int32_t>{2, 0}));
  EXPECT_EQ(result.top_offsets, (std::vector<int32_t>{0, 0, 3}));
  EXPECT_EQ(result.top_tokens.size(), 3U);
  EXPECT_TRUE(std::isnan(result.logprobs[0]));
  EXPECT_FALSE(std::isnan(result.logprobs[1]));
}

TEST_F(Steps, ScoresThePromptAsDecodingWould) {
  const auto engine = load();
  Admission a = admission(0, prompt(70), 69);  // the last token counts as generated
  a.sampling.temperature = 0;
  a.prompt_logprobs = true;
  StepPlan plan;
  plan.admit = {a};
  add_blocks(plan, 0);
  plan.rows = {{0, 64}};
  const PromptLogprobs first = engine->step(plan).prompt;
  const PromptLogprobs second =
      engine->step({.release = {}, .admit = {}, .blocks = {}, .rows = {{0, 6}}}).prompt;
  ASSERT_EQ(first.positions.size(), 64U);
  ASSERT_EQ(second.positions.size(), 4U);
  EXPECT_EQ(first.positions.front(), 1);
  EXPECT_EQ(first.positions.back(), 64);
  EXPECT_EQ(second.positions.back(), 68);
  // The best alternative to each token is what greedy decoding of the prefix before it picks.
  const auto best = [](const PromptLogprobs& p, size_t i) { return p.top_tokens[p.top_offsets[i]]; };
  ASSERT_EQ(first.ranks.size(), 64U);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(first.ranks[i] == 1, best(first, i) == a.tokens[i + 1]) << i;
  for (const int32_t length : {1, 40, 64}) {
    Admission prefix = admission(1, {a.tokens.begin(), a.tokens.begin() + length}, length);
    prefix.sampling.temperature = 0;
    EXPECT_EQ(run_alone(*engine, prefix, {length}, 0).tokens.front(), best(first, length - 1)) << length;
  }
}

TEST_F(Steps, APlanThatBreaksARuleChangesNothing) {
  const auto engine = load();
  const Admission a = admission(0, prompt(20), 20);
  StepPlan bad;
  bad.admit = {a};
  bad.rows = {{0, 20}};  // no blocks
  EXPECT_EQ(failure_of([&] { engine->step(bad); }), "EngineFault");
  const Output after = run_alone(*engine, a, {20}, 3);
  EXPECT_EQ(after, run_alone(*load(), a, {20}, 3));
}

TEST_F(Steps, NumbersThatAreNotFiniteEndOnlyTheirSequence) {
  Tensors tensors = tiny_hybrid_tensors();
  // The embedding of token 9 overflows: whoever holds it faults.
  const uint16_t infinity = float_to_bf16(std::numeric_limits<float>::infinity());
  std::memcpy(tensors["model.language_model.embed_tokens.weight"].bytes.data() + 9 * 64 * 2, &infinity, 2);
  ModelConfig config = tiny_hybrid_config();
  config.tied_head = false;
  tensors["lm_head.weight"] = tiny_hybrid_tensors()["model.language_model.embed_tokens.weight"];
  write_checkpoint(dir_, config, tensors);
  const auto engine = load();
  StepPlan plan;
  plan.admit = {admission(0, {1, 2, 9}, 3), admission(1, {1, 2, 3}, 3)};
  for (const int32_t slot : {0, 1}) add_blocks(plan, slot);
  plan.rows = {{0, 3}, {1, 3}};
  const StepResult result = engine->step(plan);
  EXPECT_EQ(result.finish, (std::vector<Finish>{Finish::kNumericalFault, Finish::kNone}));
  std::string message;
  const StepPlan again{.release = {}, .admit = {}, .blocks = {}, .rows = {{0, 1}}};
  EXPECT_EQ(failure_of([&] { engine->step(again); }, &message), "EngineFault");
  EXPECT_TRUE(contains(message, "has ended"));
}

TEST_F(Steps, OptionsThatCannotWorkAreRefused) {
  EngineOptions options{.checkpoint = dir_.checkpoint(),
                        .block_size = 24,
                        .num_blocks = 64,
                        .max_num_seqs = 8,
                        .max_model_len = 256,
                        .max_num_batched_tokens = 256};
  const auto reason = [&] {
    return failure_of([&] { Engine(options, std::make_unique<ReferenceBackend>(), [](auto, auto) {}); });
  };
  EXPECT_EQ(reason(), "InvalidEngineConfig");
  options.block_size = 32;
  options.max_num_batched_tokens = 71;
  EXPECT_EQ(reason(), "InvalidEngineConfig");
  options.max_num_batched_tokens = 72;
  EXPECT_EQ(reason(), "");
}

}  // namespace
}  // namespace llmservice
