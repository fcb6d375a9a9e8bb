// Rules of single tokens: each as its definition has it, the same to the bit with drafts and without, and
// after a preemption.
#include <gtest/gtest.h>

#include "backends/cpu/backend.h"
#include "drafts_support.h"
#include "engine/sampler.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

constexpr int32_t kVocab = 211;
constexpr int32_t kDrafts = 4;

// The ids that are left, with what their logits became.
std::map<int32_t, float> left_of(const TokenRules& rules, const std::vector<int32_t>& generated = {},
                                 const std::vector<int32_t>& stops = {}) {
  std::vector<float> logits{0.5F, 4, -2, 1, 3, 0};
  apply_rules({.rules = rules, .generated = generated, .stop_tokens = stops}, logits);
  std::map<int32_t, float> left;
  for (int32_t id = 0; id < std::ssize(logits); ++id) {
    if (std::isfinite(logits[id])) left[id] = logits[id];
  }
  return left;
}

using Left = std::map<int32_t, float>;

TEST(TokenRules, ABiasIsAddedToItsLogit) {
  EXPECT_EQ(left_of({.biased = {4, 2}, .biases = {-100, 2.5F}}),
            (Left{{0, 0.5F}, {1, 4}, {2, 0.5F}, {3, 1}, {4, -97}, {5, 0}}));
}

TEST(TokenRules, OnlyAllowedTokensAreLeft) {
  EXPECT_EQ(left_of({.allowed = {0, 3}}), (Left{{0, 0.5F}, {3, 1}}));
  EXPECT_EQ(left_of({.allowed = {5}}), (Left{{5, 0}}));
}

TEST(TokenRules, ASequenceIsForbiddenByItsLastTokenOnceTheOthersStandBeforeIt) {
  const TokenRules rules{.banned = {1, 2, 3, 2, 4}, .banned_ends = {1, 3, 5}};  // 1; 2 3; 2 4
  const Left neither{{0, 0.5F}, {2, -2}, {5, 0}};
  const Left both{{0, 0.5F}, {2, -2}, {3, 1}, {4, 3}, {5, 0}};
  EXPECT_EQ(left_of(rules), both) << "nothing is generated";
  EXPECT_EQ(left_of(rules, {0, 2}), neither);
  EXPECT_EQ(left_of(rules, {2, 0}), both);
  EXPECT_EQ(left_of({.banned = {0, 0, 0, 1}, .banned_ends = {4}}, {0, 0}).size(), 6U) << "too short";
  EXPECT_EQ(left_of({.banned = {0, 0, 0, 1}, .banned_ends = {4}}, {5, 0, 0, 0}).size(), 5U);
}

TEST(TokenRules, StopsWaitForEnoughTokens) {
  const TokenRules rules{.min_tokens = 2};
  const std::vector<int32_t> stops{1, 4, 9000};
  EXPECT_EQ(left_of(rules, {0}, stops), (Left{{0, 0.5F}, {2, -2}, {3, 1}, {5, 0}}));
  EXPECT_EQ(left_of(rules, {0, 1}, stops).size(), 6U);
}

TEST(TokenRules, ReasoningEndsOnceItsBudgetIsSpent) {
  const Left end{{5, 0}};
  const TokenRules prompted{.reasoning = ReasoningBudget{.tokens = 2, .blanks = {}, .begin = {}, .end = 5}};
  EXPECT_EQ(left_of(prompted, {0}).size(), 6U);
  EXPECT_EQ(left_of(prompted, {0, 1}), end);
  EXPECT_EQ(left_of(prompted, {0, 1, 2}), end) << "what began with it is over it";
  EXPECT_EQ(left_of(prompted, {0, 5, 2, 3}).size(), 6U) << "it has ended";
  const TokenRules own{.reasoning = ReasoningBudget{.tokens = 2, .blanks = {}, .begin = 4, .end = 5}};
  EXPECT_EQ(left_of(own, {0, 1, 2}).size(), 6U) << "it has not begun";
  EXPECT_EQ(left_of(own, {4, 2}).size(), 6U);
  EXPECT_EQ(left_of(own, {4, 2, 1}), end);
  EXPECT_EQ(left_of(own, {0, 4, 2, 1}).size(), 6U) << "an answer that has begun quotes it";
  EXPECT_EQ(left_of({.reasoning = ReasoningBudget{.tokens = 0, .blanks = {}, .begin = 4, .end = 5}}, {4}),
            end);
  const TokenRules spaced{.reasoning = ReasoningBudget{.tokens = 2, .blanks = {0, 3}, .begin = 4, .end = 5}};
  EXPECT_EQ(left_of(spaced, {0, 3, 0}).size(), 6U) << "nothing has begun";
  EXPECT_EQ(left_of(spaced, {3, 0, 4, 2}).size(), 6U);
  EXPECT_EQ(left_of(spaced, {3, 0, 4, 2, 1}), end) << "space before it is none of the answer";
  EXPECT_EQ(left_of(spaced, {3, 1, 4, 2, 1}).size(), 6U);
}

TEST(TokenRules, TheBudgetOfReasoningComesBeforeAllOthers) {
  const TokenRules rules{.biased = {5},
                         .biases = {-100},
                         .allowed = {1},
                         .banned = {5},
                         .banned_ends = {1},
                         .reasoning = ReasoningBudget{.tokens = 1, .blanks = {}, .begin = {}, .end = 5}};
  EXPECT_EQ(left_of(rules, {1}), (Left{{5, 0}}));
}

TEST(TokenRules, ABiasComesBeforeThePenalties) {
  const std::vector<float> logits{2, 0.5F, -1};
  const TokenRules rules{.biased = {1}, .biases = {2}};
  const RulesAt at{.rules = rules, .generated = {}, .stop_tokens = {}};
  TokenCounts counts;
  counts.add_generated(1);
  Sampler sampler(3);
  // (0.5 + 2) / 1.5 is below 2, and 0.5 / 1.5 + 2 would not be.
  EXPECT_EQ(sampler.sample(logits, {.repetition_penalty = 1.5F}, counts, 1, {}, &at)->token, 0);
  EXPECT_EQ(sampler.sample(logits, {.repetition_penalty = 1.2F}, counts, 1, {}, &at)->token, 1);
}

TEST(TokenRules, LogprobsAreThoseOfTheModel) {
  const std::vector<float> logits{2, 0.5F, -1};
  const TokenRules rules{.biased = {0}, .biases = {-100}};
  const RulesAt at{.rules = rules, .generated = {}, .stop_tokens = {}};
  Sampler sampler(3);
  const auto sampled = sampler.sample(logits, {.top_logprobs = 1}, {}, 1, {}, &at);
  EXPECT_EQ(sampled->token, 1);
  EXPECT_NEAR(sampled->logprob, -1.741309F, 1e-5);  // 0.5 - log(e^2 + e^0.5 + e^-1)
  EXPECT_EQ(sampled->alternatives[0].token, 0);
}

TEST(TokenRules, ReportedTokensComeInPlaceOfTheLikeliest) {
  const std::vector<float> logits{2, 0.5F, -1};
  const TokenRules rules{.reported = {2, 0}};
  const RulesAt at{.rules = rules, .generated = {}, .stop_tokens = {}};
  Sampler sampler(3);
  const auto sampled = sampler.sample(logits, {.top_logprobs = 1}, {}, 1, {}, &at);
  EXPECT_EQ(sampled->token, 0);
  ASSERT_EQ(sampled->alternatives.size(), 2U);
  EXPECT_EQ(sampled->alternatives[0].token, 2);
  EXPECT_NEAR(sampled->alternatives[0].logprob, -3.241309F, 1e-5);  // -1 - log(e^2 + e^0.5 + e^-1)
  EXPECT_EQ(sampled->alternatives[1].token, 0);
  EXPECT_EQ(sampled->alternatives[1].logprob, sampled->logprob);
  EXPECT_EQ(sampler.score(logits, 1, 1)->alternatives.size(), 1U)
      << "a prompt's token is among the likeliest";
}

TEST(TokenRules, ThatLeaveNoTokenLeaveNothingToSample) {
  const std::vector<float> logits{2, 0.5F, -1};
  const TokenRules rules{.allowed = {1}, .banned = {1}, .banned_ends = {1}};
  const RulesAt at{.rules = rules, .generated = {}, .stop_tokens = {}};
  EXPECT_FALSE(Sampler(3).sample(logits, {}, {}, 1, {}, &at));
}

const SamplingParams kGreedy{.top_logprobs = 2};
const SamplingParams kDrawn{
    .temperature = 1.2F, .typical_p = 0.8F, .seed = 3, .repetition_penalty = 1.2F, .top_logprobs = 3};

class Ruled : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    const bool hybrid = GetParam();
    write_checkpoint(dir_, hybrid ? tiny_hybrid_config() : tiny_llama_config(),
                     hybrid ? tiny_hybrid_tensors() : tiny_llama_tensors());
  }

  static Request request(int32_t slot, const SamplingParams& sampling, const TokenRules& rules,
                         std::vector<int32_t> stops = {}) {
    return {.admission = {.slot = slot,
                          .tokens = prompt(40 + slot, slot),
                          .prompt_length = 40 + slot,
                          .max_length = 70 + slot,
                          .stop_tokens = std::move(stops),
                          .sampling = sampling,
                          .rules = rules}};
  }

  std::vector<Said> run(const std::vector<Request>& requests, int32_t drafts,
                        std::unique_ptr<Drafter> drafter = nullptr) {
    const Speculation ngram{DraftMethod::kNgram, kDrafts};
    Engine engine(
        room_for_four(dir_, ngram), make_cpu_backend({.threads = 2}), [](auto, auto) {}, std::move(drafter));
    return run_requests(engine, requests, drafts);
  }

  // What each request says without rules decides what its rules change: they bite in every case.
  std::vector<Request> requests_that_bite() {
    std::vector<Request> requests;
    for (const SamplingParams& sampling : {kGreedy, kDrawn}) {
      const auto slot = static_cast<int32_t>(requests.size());
      const Said free = run({request(slot, sampling, {})}, 0)[0];
      const std::vector<int32_t>& said = free.tokens;
      requests.push_back(request(slot, sampling,
                                 {.biased = {said[0], 7},
                                  .biases = {-3, 1.5F},
                                  .banned = {said[2], said[3], said[9]},
                                  .banned_ends = {2, 3},
                                  .min_tokens = 12,
                                  .reported = {2, 0}},
                                 {said[5], said[6], 7}));
      std::vector<int32_t> allowed;
      for (int32_t id = slot; id < kVocab; id += 3) allowed.push_back(id);
      requests.push_back(request(slot + 1, sampling, {.allowed = allowed}));
    }
    return requests;
  }

  TempDir dir_;
};

TEST_P(Ruled, GiveTheSameBitsWhateverTheDrafts) {
  const std::vector<Request> requests = requests_that_bite();
  const auto expected = run(requests, 0);
  for (size_t i = 0; i < requests.size(); ++i) {
    Request free = requests[i];
    free.admission.rules = {};
    EXPECT_NE(run({free}, 0)[0].tokens, expected[i].tokens) << i;
  }
  const auto truths = truths_of(requests, expected);
  for (const std::vector<int32_t>& right : {std::vector<int32_t>{0}, {4}, {0, 4, 1, 3, 2}}) {
    const auto actual = run(requests, kDrafts, std::make_unique<OracleDrafter>(truths, right));
    for (size_t i = 0; i < requests.size(); ++i) EXPECT_TRUE(actual[i].same_as(expected[i])) << i;
  }
}

TEST_P(Ruled, AreKept) {
  const std::vector<Request> requests = requests_that_bite();
  for (const size_t i : {0U, 2U}) {
    const Admission& a = requests[i].admission;
    const Said said = run({requests[i]}, kDrafts)[0];
    ASSERT_GE(said.tokens.size(), 12U);
    const auto is_stop = [&](int32_t id) {
      return std::ranges::find(a.stop_tokens, id) != a.stop_tokens.end();
    };
    EXPECT_TRUE(std::ranges::none_of(std::span(said.tokens).first(12), is_stop));
    EXPECT_EQ(std::ranges::find(said.tokens, a.rules.banned[2]), said.tokens.end());
    const auto pair = std::span(a.rules.banned).first(2);
    EXPECT_TRUE(std::ranges::search(said.tokens, pair).empty());
  }
  for (const size_t i : {1U, 3U}) {
    const std::vector<int32_t>& allowed = requests[i].admission.rules.allowed;
    const Said said = run({requests[i]}, kDrafts)[0];
    for (const int32_t id : said.tokens) {
      EXPECT_TRUE(std::ranges::binary_search(allowed, id)) << id;
    }
  }
}

TEST_P(Ruled, GoOnAfterAPreemption) {
  for (const Request& whole : requests_that_bite()) {
    const auto expected = run({whole}, 0);
    Request begun = whole;
    begun.leaves_with = 9;
    const auto first = run({begun}, kDrafts);
    Request rest = whole;
    std::vector<int32_t> said = first[0].tokens;
    rest.admission.tokens.insert(rest.admission.tokens.end(), said.begin(), said.end());
    const auto second = run({rest}, kDrafts);
    said.insert(said.end(), second[0].tokens.begin(), second[0].tokens.end());
    EXPECT_EQ(said, expected[0].tokens);
  }
}

TEST_P(Ruled, LetReasoningGoOnAsLongAsItMay) {
  for (const SamplingParams& sampling : {kGreedy, kDrawn}) {
    const std::vector<int32_t> free = run({request(0, sampling, {})}, 0)[0].tokens;
    std::vector<int32_t> before(free.begin(), free.begin() + 7);
    int32_t end = 0;
    while (std::ranges::find(before, end) != before.end()) ++end;
    const Request bounded = request(
        0, sampling, {.reasoning = ReasoningBudget{.tokens = 7, .blanks = {}, .begin = {}, .end = end}});
    before.push_back(end);
    const Said expected = run({bounded}, 0)[0];
    ASSERT_EQ(expected.tokens.size(), free.size());
    EXPECT_TRUE(std::ranges::equal(std::span(expected.tokens).first(8), before));
    const auto truths = truths_of({bounded}, {expected});
    for (const std::vector<int32_t>& right : {std::vector<int32_t>{0}, {4}, {1, 3, 2}}) {
      const auto actual = run({bounded}, kDrafts, std::make_unique<OracleDrafter>(truths, right));
      EXPECT_TRUE(actual[0].same_as(expected));
    }
  }
}

TEST_P(Ruled, EndWhereNoTokenIsLeftAndLeaveNeighboursAlone) {
  const Request neighbour = request(1, kDrawn, {});
  const auto alone = run({neighbour}, 0);
  const Request stuck = request(0, kGreedy, {.allowed = {5}, .min_tokens = 3}, {5});
  for (const int32_t drafts : {0, kDrafts}) {
    const auto said = run({stuck, neighbour}, drafts);
    EXPECT_EQ(said[0].finish, Finish::kNumericalFault);
    ASSERT_TRUE(said[0].fault);
    EXPECT_EQ(said[0].fault->kind, FaultKind::kDeadEnd);
    EXPECT_TRUE(said[1].same_as(alone[0]));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Ruled, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "hybrid" : "llama"; });

}  // namespace
}  // namespace llmservice
