// Engines that draw on the device beside engines that bring logits to the host: the same tokens, finishes,
// faults and hashes, whatever sequences ask for; and what leaves the device meanwhile.
#include <set>

#include "sampled_engine_support.h"

namespace llmservice::testing {
namespace {

TEST_P(SampledEngine, DrawsWhatTheHostDraws) { expect_same(four_kinds()); }

TEST_P(SampledEngine, FollowsRulesAndStops) {
  std::vector<int32_t> every_other;
  for (int32_t id = 0; id < kVocab; id += 2) every_other.push_back(id);
  std::vector<int32_t> stops;
  for (int32_t id = 0; id < kVocab; id += 3) stops.push_back(id);
  const SamplingParams drawn{.temperature = 1.1F, .seed = 11, .top_logprobs = 2};
  expect_same(
      {asking(0, drawn, {.biased = {3, 9, 40}, .biases = {6, -100, 5}}),
       asking(1, drawn, {.allowed = every_other, .min_tokens = 4}, stops),
       asking(2, {.temperature = 1.1F, .seed = 12, .frequency_penalty = 1.5F},
              {.banned = {7, 9, 4, 40}, .banned_ends = {1, 4}, .min_tokens = 4}, stops),
       asking(3, drawn, {.reasoning = ReasoningBudget{.tokens = 4, .blanks = {}, .begin = {}, .end = 17}})});
}

TEST_P(SampledEngine, ReportsNamedTokensBesideSequencesThatNameNone) {
  const SamplingParams drawn{.temperature = 1.1F, .seed = 11, .top_logprobs = 2};
  expect_same({asking(0, drawn, {.reported = {40, 3, 9}}), asking(1, drawn),
               asking(2, {.top_logprobs = 0}, {.reported = {1}})});
}

TEST_P(SampledEngine, FollowsConstraintsWithAnOpeningAndWithout) {
  const SamplingParams drawn{.temperature = 1.2F, .seed = 3, .repetition_penalty = 1.2F, .top_logprobs = 3};
  std::vector<Request> requests = {asking(0, drawn), asking(1, {}), asking(2, {}), asking(3, drawn)};
  const int32_t free_choice = said_by(false, {requests[1]}, {})[0].tokens[0];
  requests[0].admission.constraint = std::make_shared<TurnsGrammar>();
  requests[1].admission.constraint = std::make_shared<TurnsGrammar>(free_choice);
  requests[2].admission.constraint = std::make_shared<TurnsGrammar>(free_choice == 5 ? 6 : 5);
  const auto expected = said_by(false, requests, {});
  EXPECT_EQ(expected[1].tokens[0], free_choice);
  expect_same_as(expected, said_by(true, requests, {}));
  // Behind drafts the form is asked row by row.
  for (Request& one : requests) one.admission.max_length -= 2;
  auto oracle =
      std::make_unique<OracleDrafter>(truths_of(requests, expected), std::vector<int32_t>{3, 0, 2, 3, 1});
  const auto said = said_by(true, requests, {DraftMethod::kNgram, kDrafts}, std::move(oracle));
  for (size_t i = 0; i < said.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(said[i].tokens, std::span(expected[i].tokens).first(6)))
        << "sequence " << i;
    EXPECT_LT(said[i].steps, 6) << "drafts were accepted";
  }
}

TEST_P(SampledEngine, DrawsBehindDraftsAsIfTheyWereRight) {
  std::vector<Request> requests = four_kinds();
  requests[0].admission.rules = {.banned = {1, 2, 3}, .banned_ends = {1, 2, 3}, .min_tokens = 5};
  requests[0].admission.stop_tokens = {10, 20, 30, 40};
  requests[1].admission.rules.reasoning = ReasoningBudget{.tokens = 5, .blanks = {}, .begin = {}, .end = 17};
  const auto expected = said_by(false, requests, {});
  auto oracle =
      std::make_unique<OracleDrafter>(truths_of(requests, expected), std::vector<int32_t>{3, 0, 2, 3, 1});
  const auto said = said_by(true, requests, {DraftMethod::kNgram, kDrafts}, std::move(oracle));
  for (size_t i = 0; i < said.size(); ++i) {
    EXPECT_EQ(said[i].tokens, expected[i].tokens) << "sequence " << i;
    EXPECT_LT(said[i].steps, 7) << "drafts were accepted";
  }
}

// Once rows are for the host, tokens are accepted before later rows are asked for; the last sequence's lie on
// both sides of that.
TEST_P(SampledEngine, DrawsBehindDraftsThatWereAcceptedMeanwhile) {
  constexpr int32_t kFour = 4;
  static_assert((kSequences - 1) * (kFour + 1) < Model::kLogitRows - 1);
  static_assert(kSequences * (kFour + 1) > Model::kLogitRows + 1);
  std::vector<Request> requests;
  for (int32_t slot = 0; slot < kSequences; ++slot) {
    requests.push_back(asking(
        slot, {.temperature = 1.1F, .seed = 20 + static_cast<uint64_t>(slot), .frequency_penalty = 2}));
  }
  requests[0].admission.constraint = std::make_shared<TurnsGrammar>();
  const auto expected = said_by(false, requests, {});
  auto oracle = std::make_unique<OracleDrafter>(truths_of(requests, expected), std::vector<int32_t>{kFour});
  const auto said = said_by(true, requests, {DraftMethod::kNgram, kFour}, std::move(oracle));
  for (int32_t i = 0; i < kSequences; ++i) {
    EXPECT_EQ(said[i].tokens, expected[i].tokens) << "sequence " << i;
    EXPECT_LT(said[i].steps, 5) << "drafts were accepted";
  }
}

// All rows of a prompt that is scored in one step, more than are made at once, between sequences that are
// drawn.
TEST_P(SampledEngine, ScoresPromptsAndHashesLogitsAsTheHost) {
  const auto step_of = [&](bool samples) {
    StepPlan plan;
    for (int32_t slot = 0; slot < 3; ++slot) {
      Request one = request(slot, 70, 4);
      one.admission.sampling = {.temperature = 0.8F, .seed = 4, .top_logprobs = 3 + slot};
      one.admission.prompt_logprobs = slot > 0;
      plan.admit.push_back(one.admission);
      for (int32_t b = 0; b < kBlocksPerSlot; ++b) plan.blocks.push_back({slot, slot * kBlocksPerSlot + b});
      plan.rows.push_back({slot, 70});
    }
    return engine_on(backend(samples), {})->step(plan);
  };
  const StepResult wanted = step_of(false);
  const StepResult got = step_of(true);
  EXPECT_EQ(got.slots, wanted.slots);
  EXPECT_EQ(got.tokens, wanted.tokens);
  EXPECT_EQ(got.logit_hashes, wanted.logit_hashes);
  EXPECT_EQ(std::set(got.logit_hashes.begin(), got.logit_hashes.end()).size(), 3U);
  EXPECT_EQ(got.prompt.positions.size(), 2 * 69U);
  EXPECT_EQ(got.prompt.positions, wanted.prompt.positions);
  EXPECT_EQ(got.prompt.ranks, wanted.prompt.ranks);
  EXPECT_EQ(got.prompt.top_offsets, wanted.prompt.top_offsets);
  EXPECT_EQ(got.prompt.top_tokens, wanted.prompt.top_tokens);
  expect_near(got.prompt.logprobs, wanted.prompt.logprobs);
  expect_near(got.prompt.top_logprobs, wanted.prompt.top_logprobs);
}

TEST_P(SampledEngine, EndsWhatCannotGoOnAsTheHost) {
  std::vector<Request> requests = four_kinds();
  requests[0].admission.rules = {
      .biased = {3}, .biases = {1}, .allowed = {5}, .banned = {5}, .banned_ends = {1}};
  const auto said = said_by(true, requests, {});
  ASSERT_TRUE(said[0].fault.has_value());
  EXPECT_EQ(said[0].fault->kind, FaultKind::kDeadEnd);
  expect_same(requests);
}

// Rows whose logits are no numbers, and a head whose logits are all equal.
TEST_P(SampledEngine, NamesWhatIsWrongAsTheHost) {
  std::mt19937 random(1);
  Tensors tensors = tiny_llama_tensors();
  for (const float value : {NAN, 0.0F}) {
    tensors["model.norm.weight"] = bf16_tensor({64}, value, 0.0F, random);
    write_checkpoint(dir_, tiny_llama_config(), tensors);
    const auto said = said_by(true, four_kinds(), {});
    ASSERT_TRUE(said[1].fault.has_value());
    EXPECT_EQ(said[1].fault->kind, std::isnan(value) ? FaultKind::kNotFinite : FaultKind::kCollapsed);
    expect_same_as(said_by(false, four_kinds(), {}), said);
  }
}

class SampledDrafts : public SampledEngine {};

TEST_P(SampledDrafts, AreThoseOfTheHost) {
  std::vector<Request> requests = four_kinds();
  requests.resize(3);
  expect_same(requests, {DraftMethod::kMtp, kDrafts});
}

// A step waits for its device once, and once more for each draft; what comes back are faults and samples.
TEST_P(SampledDrafts, LogitsStayOnTheDevice) {
  for (const int32_t drafts : {0, kDrafts}) {
    auto own = backend(true);
    const gpu::Downloads& downloads = own->downloads();
    const auto engine = engine_on(std::move(own), {DraftMethod::kMtp, kDrafts});
    StepPlan plan;
    StepPlan decode{.drafts = drafts};
    for (const Request& one : four_kinds()) {
      const int32_t slot = one.admission.slot;
      plan.admit.push_back(one.admission);
      for (int32_t b = 0; b < kBlocksPerSlot; ++b) plan.blocks.push_back({slot, slot * kBlocksPerSlot + b});
      plan.rows.push_back({slot, one.admission.prompt_length});
      decode.rows.push_back({slot, 1});
    }
    engine->step(plan);
    const gpu::Downloads before = downloads;
    EXPECT_EQ(engine->step(decode).tokens.size(), 4U);
    const size_t each = 64 + 4 * sizeof(SampleResult);
    EXPECT_EQ(downloads.times - before.times, 1U + drafts);
    EXPECT_EQ(downloads.bytes - before.bytes, (1U + drafts) * each);
    EXPECT_LT(each, 4 * kVocab * sizeof(float)) << "less than logits";
  }
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, SampledEngine,
                         ::testing::Values(Checkpoint{"llama", TinyModel::kLlama, LoadQuantization::kNone}),
                         name_of_checkpoint);
INSTANTIATE_TEST_SUITE_P(Checkpoints, SampledDrafts,
                         ::testing::Values(Checkpoint{"hybrid", TinyModel::kHybrid, LoadQuantization::kNone}),
                         name_of_checkpoint);

}  // namespace
}  // namespace llmservice::testing
