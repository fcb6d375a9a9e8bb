// Embeddings: bits that depend neither on the cut of the prompt nor on neighbours, beside sequences that
// generate.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/engine.h"
#include "failures.h"
#include "tiny_checkpoint.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

Admission embedding(int32_t slot, int32_t length, Pooling pooling) {
  return {.slot = slot,
          .tokens = prompt(length, length),
          .prompt_length = length,
          .max_length = length,
          .stop_tokens = {},
          .sampling = {},
          .pooling = pooling};
}

Admission generation(int32_t slot, int32_t length) {
  return {.slot = slot,
          .tokens = prompt(length, length),
          .prompt_length = length,
          .max_length = length + 20,
          .stop_tokens = {},
          .sampling = {}};
}

class PooledRows : public ::testing::Test {
 protected:
  void SetUp() override { load(tiny_hybrid_config(), tiny_hybrid_tensors()); }

  void load(const ModelConfig& config, const Tensors& tensors) {
    write_checkpoint(dir_, config, tensors);
    const EngineOptions options{.checkpoint = dir_.checkpoint(),
                                .block_size = 16,
                                .num_blocks = 64,
                                .max_num_seqs = 4,
                                .num_state_snapshots = 1,
                                .max_model_len = 240,
                                .max_num_batched_tokens = 256};
    engine_ = std::make_unique<Engine>(options, make_cpu_backend({.threads = 2}), [](auto, auto) {});
  }

  StepResult step(std::vector<Admission> admit, std::vector<RowEntry> rows,
                  std::vector<int32_t> release = {}) {
    StepPlan plan;
    plan.release = std::move(release);
    for (const Admission& a : admit) {
      for (int32_t i = 0; i < 15; ++i) plan.blocks.push_back({a.slot, a.slot * 15 + i});
    }
    plan.admit = std::move(admit);
    plan.rows = std::move(rows);
    return engine_->step(plan);
  }

  std::vector<float> alone(int32_t length, Pooling pooling, const std::vector<int32_t>& chunks) {
    std::vector<float> values;
    for (size_t i = 0; i < chunks.size(); ++i) {
      const auto admit = i == 0 ? std::vector{embedding(3, length, pooling)} : std::vector<Admission>{};
      const StepResult result = step(admit, {{3, chunks[i]}});
      EXPECT_TRUE(result.slots.empty());
      EXPECT_EQ(result.embeddings.slots.empty(), i + 1 < chunks.size());
      values = result.embeddings.values;
    }
    step({}, {}, {3});
    return values;
  }

  TempDir dir_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(PooledRows, TheCutOfThePromptDoesNotMatter) {
  for (const Pooling pooling : {Pooling::kLast, Pooling::kMean, Pooling::kCls}) {
    const std::vector<float> whole = alone(150, pooling, {150});
    EXPECT_EQ(whole.size(), 64U);
    EXPECT_EQ(alone(150, pooling, {64, 64, 22}), whole);
    EXPECT_EQ(alone(150, pooling, {128, 1, 21}), whole);
  }
  EXPECT_NE(alone(150, Pooling::kLast, {150}), alone(150, Pooling::kMean, {150}));
  EXPECT_EQ(alone(1, Pooling::kLast, {1}), alone(1, Pooling::kMean, {1}));
  EXPECT_EQ(alone(1, Pooling::kLast, {1}), alone(1, Pooling::kCls, {1}));
  EXPECT_NE(alone(150, Pooling::kMean, {150}), alone(150, Pooling::kCls, {150}));
}

TEST_F(PooledRows, NeighboursDoNotMatter) {
  const std::vector<float> last = alone(70, Pooling::kLast, {70});
  const std::vector<float> mean = alone(33, Pooling::kMean, {33});
  const std::vector<int32_t> token = step({generation(0, 40)}, {{0, 40}}).tokens;
  step({}, {}, {0});
  const StepResult result =
      step({embedding(2, 70, Pooling::kLast), generation(0, 40), embedding(1, 33, Pooling::kMean)},
           {{2, 70}, {0, 40}, {1, 33}});
  EXPECT_EQ(result.tokens, token);
  EXPECT_EQ(result.embeddings.slots, (std::vector<int32_t>{2, 1}));
  std::vector<float> both = last;
  both.insert(both.end(), mean.begin(), mean.end());
  EXPECT_EQ(result.embeddings.values, both);
}

TEST_F(PooledRows, OfTheLastTokenTheyMayStartFromSharedBlocks) {
  const std::vector<float> plain = alone(150, Pooling::kLast, {150});
  StepPlan first;
  first.admit = {embedding(0, 150, Pooling::kMean)};
  for (int32_t i = 0; i < 10; ++i) first.blocks.push_back({0, i});
  first.rows = {{0, 150}};
  first.saves = {{0, 128, 0}};
  engine_->step(first);
  Admission reader = embedding(1, 150, Pooling::kLast);
  reader.cached_tokens = 128;
  reader.snapshot = 0;
  StepPlan second;
  second.admit = {reader};
  for (int32_t i = 0; i < 10; ++i) second.blocks.push_back({1, i < 8 ? i : 20 + i});
  second.rows = {{1, 22}};
  EXPECT_EQ(engine_->step(second).embeddings.values, plain);
}

TEST_F(PooledRows, PlansThatMixThemUpAreRefused) {
  Admission generates = embedding(0, 20, Pooling::kLast);
  generates.max_length = 21;
  Admission scored = embedding(0, 20, Pooling::kLast);
  scored.sampling.top_logprobs = 1;
  Admission cached = embedding(0, 150, Pooling::kMean);
  cached.cached_tokens = 64;
  cached.snapshot = 0;
  Admission cached_first = cached;
  cached_first.pooling = Pooling::kCls;
  for (const Admission& wrong : {generates, scored, cached, cached_first}) {
    std::string message;
    EXPECT_EQ(failure_of([&] { step({wrong}, {{0, 20}}); }, &message), "EngineFault");
    EXPECT_TRUE(contains(message, "pooling")) << message;
  }
}

class EncodedRows : public PooledRows {
  void SetUp() override {
    ModelConfig config = tiny_llama_config();
    config.bidirectional = true;
    load(config, tiny_llama_tensors());
  }
};

TEST_F(EncodedRows, DependOnWhatComesBehindThemAndOnNoNeighbours) {
  const std::vector<float> first = alone(70, Pooling::kCls, {70});
  Admission other = embedding(3, 70, Pooling::kCls);
  other.tokens.back() ^= 1;
  EXPECT_NE(step({other}, {{3, 70}}).embeddings.values, first);
  step({}, {}, {3});
  const std::vector<float> mean = alone(33, Pooling::kMean, {33});
  const StepResult result =
      step({embedding(2, 70, Pooling::kCls), embedding(1, 33, Pooling::kMean)}, {{2, 70}, {1, 33}});
  std::vector<float> both = first;
  both.insert(both.end(), mean.begin(), mean.end());
  EXPECT_EQ(result.embeddings.values, both);
}

TEST_F(EncodedRows, KeepTheKvOfOneLayer) {
  EXPECT_EQ(engine_->info().kv_bytes_per_block, 2 * 16 * 2 * 16 * 2);
  EXPECT_TRUE(engine_->info().bidirectional);
}

TEST_F(EncodedRows, ComeInOneStepWholeAndGenerateNothing) {
  const auto refusal = [&](const Admission& admission, int32_t rows) {
    std::string message;
    EXPECT_EQ(failure_of([&] { step({admission}, {{0, rows}}); }, &message), "EngineFault");
    return message;
  };
  EXPECT_TRUE(contains(refusal(embedding(0, 70, Pooling::kMean), 64), "ends at 64 of 70 tokens"));
  EXPECT_TRUE(contains(refusal(generation(0, 20), 20), "generates nothing"));
  Admission cached = embedding(0, 70, Pooling::kLast);
  cached.cached_tokens = 16;
  EXPECT_TRUE(contains(refusal(cached, 54), "attention is bidirectional"));
}

}  // namespace
}  // namespace llmservice
