// Constraints: what is sampled under one is what it allows, the same to the bit with drafts and without, and
// after a preemption.
#include <gtest/gtest.h>

#include "backends/cpu/backend.h"
#include "drafts_support.h"
#include "engine/thread_seconds.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

constexpr int32_t kVocab = 211;
constexpr int32_t kDrafts = 4;
constexpr int32_t kClasses = 7;

// The n-th token has an id of n modulo kClasses; every third may be any.
class Turns final : public Constraint {
 public:
  std::span<const uint32_t> allowed() override {
    if (turn_ % 3 == 2) return {};
    mask_.assign((kVocab + 31) / 32, 0);
    for (int32_t id = turn_ % kClasses; id < kVocab; id += kClasses) mask_[id / 32] |= 1U << (id % 32);
    return mask_;
  }
  void accept(int32_t token) override {
    EXPECT_TRUE(turn_ % 3 == 2 || token % kClasses == turn_ % kClasses) << token << " at turn " << turn_;
    ++turn_;
  }

 private:
  int32_t turn_ = 0;
  std::vector<uint32_t> mask_;
};

class TurnsGrammar final : public Grammar {
 public:
  std::unique_ptr<Constraint> begin() const override { return std::make_unique<Turns>(); }
};

const SamplingParams kGreedy{.top_logprobs = 2};
const SamplingParams kDrawn{.temperature = 1.2F,
                            .top_p = 0.9F,
                            .top_k = 50,
                            .seed = 3,
                            .repetition_penalty = 1.2F,
                            .top_logprobs = 3};

Request request(int32_t slot, const SamplingParams& sampling, std::shared_ptr<const Grammar> grammar) {
  Request wanted{.admission = {.slot = slot,
                               .tokens = {},
                               .prompt_length = 40 + slot,
                               .max_length = 70 + slot,
                               .stop_tokens = {},
                               .sampling = sampling}};
  for (int32_t i = 0; i < 40 + slot; ++i)
    wanted.admission.tokens.push_back((i * 31 + slot * 17 + 5) % kVocab);
  wanted.admission.constraint = std::move(grammar);
  return wanted;
}

class Constraints : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    const bool hybrid = GetParam();
    write_checkpoint(dir_, hybrid ? tiny_hybrid_config() : tiny_llama_config(),
                     hybrid ? tiny_hybrid_tensors() : tiny_llama_tensors());
  }

  std::vector<Said> run(const std::vector<Request>& requests, int32_t drafts,
                        std::unique_ptr<Drafter> drafter = nullptr) {
    const Speculation ngram{DraftMethod::kNgram, kDrafts};
    Engine engine(
        room_for_four(dir_, ngram), make_cpu_backend({.threads = 2}), [](auto, auto) {}, std::move(drafter));
    return run_requests(engine, requests, drafts);
  }

  TempDir dir_;
  std::shared_ptr<const Grammar> turns_ = std::make_shared<TurnsGrammar>();
};

TEST_P(Constraints, DecideWhatIsSampledAndLeaveNeighboursAlone) {
  const auto free = run({request(0, kDrawn, nullptr), request(1, kGreedy, nullptr)}, 0);
  const auto bound = run({request(0, kDrawn, turns_), request(1, kGreedy, nullptr)}, 0);
  ASSERT_EQ(bound[0].tokens.size(), 30U);
  for (int32_t turn = 0; turn < 30; ++turn) {
    if (turn % 3 != 2) EXPECT_EQ(bound[0].tokens[turn] % kClasses, turn % kClasses) << turn;
  }
  EXPECT_NE(bound[0].tokens, free[0].tokens);
  EXPECT_TRUE(bound[1].same_as(free[1]));
}

TEST_P(Constraints, LogprobsAreThoseOfTheModel) {
  const auto free = run({request(0, kGreedy, nullptr)}, 0);
  const auto bound = run({request(0, kGreedy, turns_)}, 0);
  // Of the same row: the alternatives do not know of the mask, and the token is no likelier than the best.
  EXPECT_TRUE(std::ranges::equal(std::span(free[0].top_logprobs).first(2),
                                 std::span(bound[0].top_logprobs).first(2)));
  EXPECT_LE(bound[0].logprobs[0], free[0].logprobs[0]);
}

TEST_P(Constraints, GiveTheSameBitsWhateverTheDrafts) {
  for (const SamplingParams& sampling : {kGreedy, kDrawn}) {
    const std::vector<Request> requests{request(0, sampling, turns_), request(1, sampling, nullptr),
                                        request(2, sampling, turns_)};
    const auto expected = run(requests, 0);
    const auto truths = truths_of(requests, expected);
    for (const std::vector<int32_t>& right : {std::vector<int32_t>{0}, {4}, {0, 4, 1, 3, 2}}) {
      const auto actual = run(requests, kDrafts, std::make_unique<OracleDrafter>(truths, right));
      for (size_t i = 0; i < requests.size(); ++i) EXPECT_TRUE(actual[i].same_as(expected[i])) << i;
    }
    const auto looked_up = run(requests, kDrafts);
    for (size_t i = 0; i < requests.size(); ++i) EXPECT_TRUE(looked_up[i].same_as(expected[i])) << i;
  }
}

TEST_P(Constraints, GoOnAfterAPreemption) {
  const Request whole = request(0, kDrawn, turns_);
  const auto expected = run({whole}, 0);
  Request begun = whole;
  begun.leaves_with = 10;
  const auto first = run({begun}, kDrafts);
  Request rest = whole;
  rest.admission.tokens.insert(rest.admission.tokens.end(), first[0].tokens.begin(), first[0].tokens.end());
  std::vector<int32_t> said = first[0].tokens;
  const auto second = run({rest}, kDrafts);
  said.insert(said.end(), second[0].tokens.begin(), second[0].tokens.end());
  EXPECT_EQ(said, expected[0].tokens);
}

// Three tokens, and then none.
class Cliff final : public Grammar {
 public:
  std::unique_ptr<Constraint> begin() const override { return std::make_unique<Falling>(); }

 private:
  class Falling final : public Constraint {
   public:
    std::span<const uint32_t> allowed() override {
      mask_.assign((kVocab + 31) / 32, left_ > 0 ? ~0U : 0U);
      return mask_;
    }
    void accept(int32_t) override { --left_; }

   private:
    int32_t left_ = 3;
    std::vector<uint32_t> mask_;
  };
};

TEST_P(Constraints, ThatAllowNothingEndTheirSequenceAlone) {
  const auto free = run({request(0, kDrawn, nullptr), request(1, kGreedy, nullptr)}, 0);
  for (const int32_t drafts : {0, kDrafts}) {
    const auto said =
        run({request(0, kDrawn, std::make_shared<Cliff>()), request(1, kGreedy, nullptr)}, drafts);
    EXPECT_EQ(said[0].tokens.size(), 4U) << "the last is none";
    EXPECT_EQ(said[0].finish, Finish::kNumericalFault);
    EXPECT_TRUE(std::ranges::equal(std::span(said[0].tokens).first(3), std::span(free[0].tokens).first(3)));
    EXPECT_TRUE(said[1].same_as(free[1]));
  }
}

// Any token, and from the third on seconds to say so, or to take it.
class Bog final : public Grammar {
 public:
  explicit Bog(bool takes) : takes_(takes) {}
  std::unique_ptr<Constraint> begin() const override { return std::make_unique<Sinking>(takes_); }

 private:
  class Sinking final : public Constraint {
   public:
    explicit Sinking(bool takes) : takes_(takes) {}
    std::span<const uint32_t> allowed() override {
      if (!takes_) sink();
      return {};
    }
    void accept(int32_t) override {
      if (takes_) sink();
      ++said_;
    }

   private:
    void sink() const {
      const double until = thread_seconds() + 2;
      while (said_ >= 2 && thread_seconds() < until) continue;
    }
    bool takes_;
    int said_ = 0;
  };

  bool takes_;
};

TEST_P(Constraints, ThatTakeTooLongEndTheirSequenceAlone) {
  const auto free = run({request(0, kDrawn, nullptr), request(1, kGreedy, nullptr)}, 0);
  for (const bool takes : {false, true}) {
    for (const int32_t drafts : {0, kDrafts}) {
      const auto said =
          run({request(0, kDrawn, std::make_shared<Bog>(takes)), request(1, kGreedy, nullptr)}, drafts);
      // The last is none.
      EXPECT_EQ(said[0].tokens.size(), takes ? 4U : 3U);
      EXPECT_EQ(said[0].finish, Finish::kNumericalFault);
      EXPECT_TRUE(said[1].same_as(free[1]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Constraints, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "hybrid" : "llama"; });

}  // namespace
}  // namespace llmservice
