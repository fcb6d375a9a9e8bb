// Rows of a step drawn by several threads: what each sequence says is what one thread draws, to the bit, with
// every kind of request side by side and drafts verified. Runs under the thread sanitizer too.
#include <gtest/gtest.h>

#include "drafts_support.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

constexpr int32_t kVocab = 211;

// The n-th token has an id of n modulo 3, within a mask that is this sequence's own.
class Thirds final : public Constraint {
 public:
  std::span<const uint32_t> allowed() override {
    mask_.assign((kVocab + 31) / 32, 0);
    for (int32_t id = turn_ % 3; id < kVocab; id += 3) mask_[id / 32] |= 1U << (id % 32);
    return mask_;
  }
  void accept(int32_t token) override {
    if (token % 3 != turn_ % 3) throw std::logic_error("forbidden");
    if (++turn_ == stops_at) throw std::logic_error("the constraint's own error");
  }
  int32_t stops_at = 0;

 private:
  int32_t turn_ = 0;
  std::vector<uint32_t> mask_;
};

class ThirdsGrammar final : public Grammar {
 public:
  explicit ThirdsGrammar(int32_t stops_at) : stops_at_(stops_at) {}
  std::unique_ptr<Constraint> begin() const override {
    auto constraint = std::make_unique<Thirds>();
    constraint->stops_at = stops_at_;
    return constraint;
  }

 private:
  int32_t stops_at_;
};

Request request(int32_t slot, const SamplingParams& sampling, int32_t stops_at = -1) {
  Request wanted{.admission = {.slot = slot,
                               .tokens = {},
                               .prompt_length = 40 + slot,
                               .max_length = 80 + slot,
                               .stop_tokens = {},
                               .sampling = sampling}};
  for (int32_t i = 0; i < 40 + slot; ++i) wanted.admission.tokens.push_back((i * 31 + slot * 17) % kVocab);
  if (stops_at >= 0) wanted.admission.constraint = std::make_shared<ThirdsGrammar>(stops_at);
  return wanted;
}

std::vector<Request> all_kinds() {
  std::vector<Request> requests{
      request(0, {.temperature = 0.8F, .seed = 1, .top_logprobs = 4}),
      request(1, {.temperature = 1, .top_p = 0.9F, .seed = 2, .repetition_penalty = 1.3F, .top_logprobs = 1}),
      request(2, {.temperature = 1.2F, .top_k = 9, .typical_p = 0.9F, .seed = 3, .top_logprobs = 0}, 0),
      request(3, {.top_logprobs = 2})};
  requests[0].admission.rules.biased = {5, 6};
  requests[0].admission.rules.biases = {3, -2};
  requests[3].admission.prompt_logprobs = true;
  return requests;
}

class ParallelDraws : public ::testing::Test {
 protected:
  void SetUp() override { write_checkpoint(dir_, tiny_llama_config(), tiny_llama_tensors()); }

  std::vector<Said> run(int threads, const std::vector<Request>& requests, int32_t drafts) {
    Engine engine(room_for_four(dir_, {DraftMethod::kNgram, 4}), make_cpu_backend({.threads = threads}),
                  [](auto, auto) {});
    return run_requests(engine, requests, drafts);
  }

  TempDir dir_;
};

TEST_F(ParallelDraws, SayWhatOneThreadSays) {
  const std::vector<Said> expected = run(1, all_kinds(), 0);
  for (const Said& said : expected) EXPECT_EQ(said.tokens.size(), 40U);
  for (const int threads : {2, 4}) {
    for (const int32_t drafts : {0, 4}) {
      const std::vector<Said> said = run(threads, all_kinds(), drafts);
      for (size_t i = 0; i < said.size(); ++i) {
        EXPECT_TRUE(said[i].same_as(expected[i])) << i << " with " << threads << " threads, " << drafts;
      }
    }
  }
}

TEST_F(ParallelDraws, ScorePromptsAsOneThreadDoes) {
  const auto scores = [&](int threads) {
    Engine engine(room_for_four(dir_, {}), make_cpu_backend({.threads = threads}), [](auto, auto) {});
    StepPlan plan;
    for (const Request& wanted : all_kinds()) {
      Admission admission = wanted.admission;
      admission.prompt_logprobs = true;
      admission.sampling.top_logprobs = 3;
      for (int32_t b = 0; b < kBlocksPerSlot; ++b) {
        plan.blocks.push_back({admission.slot, admission.slot * kBlocksPerSlot + b});
      }
      plan.rows.push_back({admission.slot, admission.prompt_length});
      plan.admit.push_back(admission);
    }
    return engine.step(plan);
  };
  const StepResult expected = scores(1);
  ASSERT_EQ(expected.prompt.logprobs.size(), 162U);
  const StepResult actual = scores(4);
  EXPECT_EQ(actual.tokens, expected.tokens);
  EXPECT_EQ(actual.prompt.slots, expected.prompt.slots);
  EXPECT_EQ(actual.prompt.positions, expected.prompt.positions);
  EXPECT_EQ(actual.prompt.logprobs, expected.prompt.logprobs);
  EXPECT_EQ(actual.prompt.ranks, expected.prompt.ranks);
  EXPECT_EQ(actual.prompt.top_tokens, expected.prompt.top_tokens);
}

// As on one thread, it is the step's: not the end of the process.
TEST_F(ParallelDraws, CarryAnErrorToTheCaller) {
  std::vector<Request> requests = all_kinds();
  requests[2] = request(2, {.temperature = 1}, 5);
  EXPECT_THROW(run(3, requests, 0), std::logic_error);
}

}  // namespace
}  // namespace llmservice
