// Shared blocks and saved states: a sequence that starts from what another computed goes on with the same
// bits.
#include <gtest/gtest.h>

#include "backends/cpu/backend.h"
#include "engine/engine.h"
#include "ops/reference.h"
#include "tiny_checkpoint.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

struct Output {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;
  bool operator==(const Output&) const = default;
};

void add(Output& out, const StepResult& result) {
  out.tokens.insert(out.tokens.end(), result.tokens.begin(), result.tokens.end());
  out.logprobs.insert(out.logprobs.end(), result.logprobs.begin(), result.logprobs.end());
}

class SharedPrefix : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    write_checkpoint(dir_, tiny_hybrid_config(), tiny_hybrid_tensors());
    const EngineOptions options{.model_dir = dir_.path(),
                                .block_size = 16,
                                .num_blocks = 48,
                                .max_num_seqs = 3,
                                .num_state_snapshots = 2,
                                .max_model_len = 256,
                                .max_num_batched_tokens = 256,
                                .dtype = DType::kF32,
                                .threads = 0,
                                .isa = "auto"};
    auto backend = std::string(GetParam()) == "reference"
                       ? std::unique_ptr<Backend>(std::make_unique<ReferenceBackend>())
                       : make_cpu_backend({.threads = 2, .isa = GetParam()});
    engine_ = std::make_unique<Engine>(options, std::move(backend), [](auto, auto) {});
  }

  // 150 tokens; `cached` of them, and the state in `snapshot`, are those of the first blocks of slot 0.
  StepPlan begin(int32_t slot, int32_t cached, std::optional<int32_t> snapshot) {
    StepPlan plan;
    plan.admit = {{.slot = slot,
                   .tokens = prompt(150),
                   .cached_tokens = cached,
                   .snapshot = snapshot,
                   .prompt_length = 150,
                   .max_length = 180,
                   .stop_tokens = {},
                   .sampling = {.temperature = 0.8F, .seed = 11, .top_logprobs = 3}}};
    for (int32_t i = 0; i < 12; ++i) plan.blocks.push_back({slot, (i < cached / 16 ? 0 : slot * 12) + i});
    plan.rows = {{slot, 150 - cached}};
    return plan;
  }

  // The plan's step and `decodes` further tokens of the slot.
  Output run(const StepPlan& plan, int32_t slot, int32_t decodes) {
    Output out;
    add(out, engine_->step(plan));
    for (int32_t i = 0; i < decodes; ++i) {
      StepPlan decode;
      decode.rows = {{slot, 1}};
      add(out, engine_->step(decode));
    }
    return out;
  }

  TempDir dir_;
  std::unique_ptr<Engine> engine_;
};

TEST_P(SharedPrefix, GivesTheSameBits) {
  const Output plain = run(begin(0, 0, std::nullopt), 0, 5);
  StepPlan saving = begin(0, 0, std::nullopt);
  saving.release = {0};
  saving.saves = {{0, 64, 1}, {0, 128, 0}};
  EXPECT_EQ(run(saving, 0, 5), plain) << "saving states changes nothing";
  EXPECT_EQ(run(begin(1, 128, 0), 1, 5), plain);
  StepPlan shorter = begin(2, 64, 1);
  EXPECT_EQ(run(shorter, 2, 5), plain);
  // The reader's blocks and the owner's may go in any order.
  StepPlan again = begin(1, 128, 0);
  again.release = {0, 1};
  EXPECT_EQ(run(again, 1, 5), plain);
}

TEST_P(SharedPrefix, ATwinTakesTheOthersBlocks) {
  const Output plain = run(begin(0, 0, std::nullopt), 0, 5);
  Output twin = run(begin(1, 0, std::nullopt), 1, 2);
  StepPlan swap;
  for (int32_t i = 0; i < 8; ++i) swap.replace.push_back({1, i, i});
  swap.rows = {{1, 1}};
  add(twin, engine_->step(swap));
  // What it had is free: another sequence writes to it.
  StepPlan third = begin(2, 0, std::nullopt);
  for (int32_t i = 0; i < 8; ++i) third.blocks[i].block = 12 + i;
  EXPECT_EQ(run(third, 2, 5), plain);
  StepPlan rest;
  rest.rows = {{1, 1}};
  for (int32_t i = 0; i < 2; ++i) add(twin, engine_->step(rest));
  EXPECT_EQ(twin, plain);
}

INSTANTIATE_TEST_SUITE_P(Backends, SharedPrefix, ::testing::Values("reference", "portable", "auto"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace llmservice
