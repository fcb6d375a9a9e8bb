// An engine on several ranks: the same sequences as on one rank, and what happens when a rank gives up.
#include <gtest/gtest.h>

#include "engine/engine.h"
#include "engine/plan_wire.h"
#include "failures.h"
#include "ops/reference.h"
#include "parallel_support.h"
#include "tiny_checkpoint.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

Admission admission(int32_t slot, int32_t length) {
  return {.slot = slot,
          .tokens = prompt(length),
          .prompt_length = length,
          .max_length = 120,
          .stop_tokens = {7},
          .sampling = {.temperature = 0.8F, .seed = 11, .repetition_penalty = 1.1F, .top_logprobs = 2},
          .prompt_logprobs = slot == 0};
}

StepPlan rows(std::vector<RowEntry> entries) {
  StepPlan plan;
  plan.rows = std::move(entries);
  return plan;
}

// Two sequences, one of them in two chunks, then decodes of both.
std::vector<StepPlan> plans() {
  StepPlan first = rows({{0, 64}, {1, 3}});
  first.admit = {admission(0, 100), admission(1, 3)};
  for (int32_t i = 0; i < 8; ++i) {
    first.blocks.push_back({0, i});
    first.blocks.push_back({1, 8 + i});
  }
  std::vector<StepPlan> all{first, rows({{0, 36}, {1, 1}})};
  for (int32_t i = 0; i < 8; ++i) all.push_back(rows({{0, 1}, {1, 1}}));
  all.emplace_back().release = {0, 1};
  return all;
}

// Slot 1 ends by its length in the second step, or is pooled and ends in the first, which only rank 0 sees.
// The plans after that were made ahead: they have rows of it until it is released, and another takes its
// blocks.
std::vector<StepPlan> plans_ahead(Pooling pooling) {
  std::vector<StepPlan> all = plans();
  Admission& ending = all[0].admit[1];
  ending.max_length = pooling == Pooling::kNone ? 5 : 3;
  ending.pooling = pooling;
  if (pooling != Pooling::kNone) ending.sampling = {};
  all[1].rows = {{0, 36}, {1, 1}};
  for (StepPlan& plan : all) plan.ahead = true;
  StepPlan& next = all[5];
  next.release = {1};
  next.admit = {admission(1, 20)};
  for (int32_t i = 0; i < 8; ++i) next.blocks.push_back({1, 8 + i});
  next.rows = {{0, 1}, {1, 20}};
  return all;
}

// The same, each step planned after the end of the one before.
std::vector<StepPlan> plans_behind(Pooling pooling) {
  std::vector<StepPlan> all = plans_ahead(pooling);
  const size_t last = pooling == Pooling::kNone ? 1 : 0;
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].ahead = false;
    if (i > last && i < 5) std::erase_if(all[i].rows, [](const RowEntry& entry) { return entry.slot == 1; });
  }
  return all;
}

struct Seen {
  std::vector<int32_t> slots;
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;
};

Seen run(Engine& engine, const std::vector<StepPlan>& all) {
  Seen seen;
  for (const StepPlan& plan : all) {
    const StepResult result = engine.step(plan);
    seen.slots.insert(seen.slots.end(), result.slots.begin(), result.slots.end());
    seen.tokens.insert(seen.tokens.end(), result.tokens.begin(), result.tokens.end());
    for (const auto* logprobs : {&result.logprobs, &result.prompt.logprobs}) {
      seen.logprobs.insert(seen.logprobs.end(), logprobs->begin(), logprobs->end());
    }
  }
  return seen;
}

class EngineRanks : public ::testing::Test {
 protected:
  std::unique_ptr<Engine> load(std::optional<RankPlace> place) {
    const EngineOptions options{.checkpoint = dir_.checkpoint(),
                                .block_size = 16,
                                .num_blocks = 16,
                                .max_num_seqs = 2,
                                .max_model_len = 128,
                                .max_num_batched_tokens = 128,
                                .dtype = DType::kF32,
                                .place = place};
    return std::make_unique<Engine>(options, std::make_unique<ReferenceBackend>(), [](auto, auto) {});
  }

  Seen run_on(int32_t size, const std::vector<StepPlan>& all = plans()) {
    const TestSegment segment(size);
    std::vector<std::thread> followers;
    for (int32_t rank = 1; rank < size; ++rank) {
      followers.emplace_back([&, rank] { load(RankPlace{rank, size, segment.descriptor()})->follow(); });
    }
    Seen seen = run(*load(RankPlace{0, size, segment.descriptor()}), all);
    for (std::thread& follower : followers) follower.join();
    return seen;
  }

  void expect_as_on_one_rank(int32_t size) {
    const Seen one = run(*load(std::nullopt), plans());
    const Seen many = run_on(size);
    EXPECT_EQ(many.tokens, one.tokens);
    ASSERT_EQ(many.logprobs.size(), one.logprobs.size());
    for (size_t i = 0; i < one.logprobs.size(); ++i) EXPECT_NEAR(many.logprobs[i], one.logprobs[i], 1e-4);
    EXPECT_GT(one.logprobs.size(), 100U);
  }

  TempDir dir_;
};

TEST_F(EngineRanks, ComputeAHybridModelAsOneRankDoes) {
  write_checkpoint(dir_, tiny_hybrid_config(), tiny_hybrid_tensors());
  expect_as_on_one_rank(2);
}

TEST_F(EngineRanks, ShareKvHeadsWhenThereAreFewerThanRanks) {
  ModelConfig config = tiny_llama_config();
  config.heads = 8;
  config.kv_heads = 4;
  config.head_dim = 8;
  config.rope.rotary = 8;
  write_checkpoint(dir_, config, tiny_llama_tensors());
  for (const int32_t size : {2, 4, 8}) expect_as_on_one_rank(size);
}

TEST_F(EngineRanks, LeaveOutWhatEndedBeforeAPlanMadeAhead) {
  write_checkpoint(dir_, tiny_hybrid_config(), tiny_hybrid_tensors());
  for (const Pooling pooling : {Pooling::kNone, Pooling::kLast}) {
    const Seen behind = run(*load(std::nullopt), plans_behind(pooling));
    for (const Seen& ahead :
         {run(*load(std::nullopt), plans_ahead(pooling)), run_on(2, plans_ahead(pooling))}) {
      EXPECT_EQ(ahead.slots, behind.slots);
      EXPECT_EQ(ahead.tokens, behind.tokens);
      ASSERT_EQ(ahead.logprobs.size(), behind.logprobs.size());
      for (size_t i = 0; i < behind.logprobs.size(); ++i)
        EXPECT_NEAR(ahead.logprobs[i], behind.logprobs[i], 1e-4);
    }
    EXPECT_GT(behind.tokens.size(), 10U);
  }
}

TEST_F(EngineRanks, AreRefusedWhereTheyDoNotDivideTheModel) {
  write_checkpoint(dir_, tiny_hybrid_config(), tiny_hybrid_tensors());
  const TestSegment segment(4);
  // No rank waits for the others to say so.
  for (int32_t rank = 0; rank < 4; ++rank) {
    std::string message;
    EXPECT_EQ(failure_of(
                  [&] {
                    load(RankPlace{rank, 4, segment.descriptor()});
                  },
                  &message),
              "ParallelismInvalid");
    EXPECT_TRUE(contains(message, "linear_num_key_heads (2)"));
  }
}

TEST_F(EngineRanks, AllReportWhatIsWrongWithTheCheckpoint) {
  Tensors tensors = tiny_llama_tensors();
  tensors.erase("model.layers.1.mlp.up_proj.weight");
  write_checkpoint(dir_, tiny_llama_config(), tensors);
  const TestSegment segment(2);
  std::string messages[2];
  std::string reason;
  std::thread other([&] {
    reason = failure_of([&] { load(RankPlace{1, 2, segment.descriptor()}); }, &messages[1]);
  });
  EXPECT_EQ(failure_of(
                [&] {
                  load(RankPlace{0, 2, segment.descriptor()});
                },
                &messages[0]),
            "CheckpointIncomplete");
  other.join();
  EXPECT_EQ(reason, "CheckpointIncomplete");
  for (const std::string& message : messages)
    EXPECT_TRUE(contains(message, "model.layers.1.mlp.up_proj.weight"));
}

TEST_F(EngineRanks, ReportARankThatGivesUpToRankZero) {
  write_checkpoint(dir_, tiny_llama_config(), tiny_llama_tensors());
  const TestSegment segment(2);
  std::thread other([&] { load(RankPlace{1, 2, segment.descriptor()}); });
  const auto engine = load(RankPlace{0, 2, segment.descriptor()});
  other.join();
  std::string message;
  EXPECT_EQ(failure_of([&] { engine->step(plans().front()); }, &message), "EngineFault");
  EXPECT_TRUE(contains(message, "Rank 1 of 2"));
  EXPECT_TRUE(contains(message, "gave up after an error of its own while waiting for a step"));
}

TEST(PlanWire, CarriesEveryField) {
  const StepPlan plan = plans().front();
  const StepPlan same = decode_plan(encode_plan(plan));
  EXPECT_EQ(encode_plan(same), encode_plan(plan));
  EXPECT_EQ(same.admit[0].tokens, plan.admit[0].tokens);
  EXPECT_EQ(same.admit[1].stop_tokens, plan.admit[1].stop_tokens);
  EXPECT_EQ(same.admit[0].sampling.top_logprobs, 2);
  EXPECT_EQ(same.admit[0].sampling.seed, 11U);
  EXPECT_TRUE(same.admit[0].prompt_logprobs);
  EXPECT_FALSE(same.admit[1].prompt_logprobs);
  EXPECT_EQ(same.blocks.size(), 16U);
  EXPECT_EQ(same.rows[0].count, 64);
  StepPlan ahead;
  ahead.ahead = true;
  EXPECT_TRUE(decode_plan(encode_plan(ahead)).ahead);
}

TEST(PlanWire, RefusesWhatIsNotOnePlan) {
  std::vector<std::byte> bytes = encode_plan(plans().front());
  for (const size_t length : {size_t{0}, size_t{9}, bytes.size() - 1}) {
    EXPECT_EQ(failure_of([&] { decode_plan(std::span(bytes).first(length)); }), "EngineFault") << length;
  }
  bytes.push_back({});
  EXPECT_EQ(failure_of([&] { decode_plan(bytes); }), "EngineFault");
}

}  // namespace
}  // namespace llmservice
