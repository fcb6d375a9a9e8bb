// Speculation changes how many steps an output takes and not one bit of it, whatever the drafts are.
#include <gtest/gtest.h>

#include "backends/cpu/backend.h"
#include "drafts_support.h"
#include "engine/ngram_drafter.h"
#include "failures.h"
#include "parallel_support.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

constexpr int32_t kDrafts = 4;

const SamplingParams kGreedy{.top_logprobs = 2};
const SamplingParams kDrawn{.temperature = 1.2F,
                            .top_p = 0.95F,
                            .seed = 11,
                            .repetition_penalty = 1.2F,
                            .presence_penalty = 0.3F,
                            .frequency_penalty = 0.2F,
                            .top_logprobs = 3};

Request request(int32_t slot, int32_t length, const SamplingParams& sampling, int32_t generate = 30) {
  return {.admission = {.slot = slot,
                        .tokens = prompt(length, slot),
                        .prompt_length = length,
                        .max_length = length + generate,
                        .stop_tokens = {},
                        .sampling = sampling}};
}

struct Model {
  const char* name;
  bool hybrid;
  const char* backend;
};

class Drafts : public ::testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    if (GetParam().hybrid) {
      write_checkpoint(dir_, tiny_hybrid_config(), tiny_hybrid_tensors());
    } else {
      write_checkpoint(dir_, tiny_llama_config(), tiny_llama_tensors());
    }
  }

  std::unique_ptr<Engine> load(std::unique_ptr<Drafter> drafter = nullptr, int32_t snapshots = 0) {
    const EngineOptions options =
        room_for_four(dir_, {DraftMethod::kNgram, kDrafts}, std::nullopt, snapshots);
    auto backend = std::string(GetParam().backend) == "reference"
                       ? std::unique_ptr<Backend>(std::make_unique<ReferenceBackend>())
                       : make_cpu_backend({.threads = 2, .isa = GetParam().backend});
    return std::make_unique<Engine>(
        options, std::move(backend), [](auto, auto) {}, std::move(drafter));
  }

  std::vector<Said> plain(const std::vector<Request>& requests) { return run_requests(*load(), requests, 0); }
  std::vector<Said> drafted(const std::vector<Request>& requests, const std::vector<int32_t>& right,
                            bool ahead = false) {
    auto oracle = std::make_unique<OracleDrafter>(truths_of(requests, plain(requests)), right);
    return run_requests(*load(std::move(oracle)), requests, kDrafts, ahead);
  }
  void expect_same(const std::vector<Said>& actual, const std::vector<Said>& expected,
                   const std::string& what) {
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(actual[i].tokens, expected[i].tokens) << what << ", sequence " << i;
      EXPECT_TRUE(actual[i].same_as(expected[i])) << what << ", sequence " << i;
    }
  }

  TempDir dir_;
};

TEST_P(Drafts, OfAnyWorthGiveTheSameBits) {
  for (const SamplingParams& sampling : {kGreedy, kDrawn}) {
    const std::vector<Request> one{request(0, 70, sampling)};
    const auto expected = plain(one);
    ASSERT_EQ(expected[0].tokens.size(), 30U);
    EXPECT_EQ(expected[0].steps, 30);
    for (const std::vector<int32_t>& right :
         {std::vector<int32_t>{0}, {1}, {2}, {3}, {4}, {0, 4, 1, 3, 2, 2, 0, 0, 4}}) {
      const auto actual = drafted(one, right);
      expect_same(actual, expected, "right " + std::to_string(right[0]));
      // The prompt's step gives one token, each later one 1 + right.
      if (right.size() > 1) continue;
      EXPECT_EQ(actual[0].steps, 1 + (29 + right[0]) / (1 + right[0]));
    }
  }
}

TEST_P(Drafts, MixWithPromptsAndWithEachOther) {
  std::vector<Request> several{request(0, 130, kDrawn), request(1, 7, kGreedy), request(2, 64, kDrawn),
                               request(3, 150, kGreedy)};
  several[1].joins_at = 1;
  several[2].joins_at = 4;
  several[3].joins_at = 5;
  expect_same(drafted(several, {4, 0, 2, 1, 3}), plain(several), "together");
  expect_same(drafted(several, {4, 0, 2, 1, 3}, true), plain(several), "planned ahead");
}

TEST_P(Drafts, EndWhereTheSequenceEnds) {
  for (const int32_t at : {3, 4, 5, 6, 7}) {
    Request stops = request(0, 20, kDrawn);
    const int32_t stop = plain({stops})[0].tokens[at];
    stops.admission.stop_tokens = {stop};
    const auto expected = plain({stops});
    EXPECT_EQ(expected[0].finish, Finish::kStop);
    expect_same(drafted({stops}, {4}), expected, "stop");
    const Request full = request(0, 20, kDrawn, at);
    const auto all = plain({full});
    EXPECT_EQ(all[0].finish, Finish::kLength);
    expect_same(drafted({full}, {4}), all, "length");
  }
}

TEST_P(Drafts, LeaveNothingBehindWhenASequenceIsPreempted) {
  const Request whole = request(0, 70, kDrawn);
  const std::vector<Said> expected = plain({whole});
  const auto truths = truths_of({whole}, expected);
  const auto engine = load(std::make_unique<OracleDrafter>(truths, std::vector<int32_t>{2, 3}));
  Request begun = whole;
  begun.leaves_with = 9;
  const Said first = run_requests(*engine, {begun}, kDrafts)[0];
  Request rest = whole;
  rest.admission.slot = 2;
  rest.admission.tokens.insert(rest.admission.tokens.end(), first.tokens.begin(), first.tokens.end());
  const Said second = run_requests(*engine, {rest}, kDrafts)[0];
  std::vector<int32_t> tokens = first.tokens;
  tokens.insert(tokens.end(), second.tokens.begin(), second.tokens.end());
  EXPECT_EQ(tokens, expected[0].tokens);
  std::vector<float> logprobs = first.logprobs;
  logprobs.insert(logprobs.end(), second.logprobs.begin(), second.logprobs.end());
  EXPECT_EQ(logprobs, expected[0].logprobs);
}

TEST_P(Drafts, BeginFromSharedBlocksAndSavedStates) {
  const Request owner = request(0, 150, kDrawn);
  const auto expected = plain({owner});
  const auto truths = truths_of({owner}, expected);
  const auto engine = load(std::make_unique<OracleDrafter>(truths, std::vector<int32_t>{3, 1, 4}), 1);
  StepPlan first;
  first.admit = {owner.admission};
  for (int32_t b = 0; b < kBlocksPerSlot; ++b) first.blocks.push_back({0, b});
  first.rows = {{0, 150}};
  if (GetParam().hybrid) first.saves = {{0, 128, 0}};
  engine->step(first);
  Request reader = owner;
  reader.admission.slot = 1;
  reader.admission.cached_tokens = 128;
  if (GetParam().hybrid) reader.admission.snapshot = 0;
  expect_same(run_requests(*engine, {reader}, kDrafts), expected, "from the cache");
}

TEST_P(Drafts, LookedUpInTheTextAreOftenRightWhereItRepeats) {
  // Greedy decoding of random weights falls into a loop sooner or later.
  const std::vector<Request> one{request(0, 40, kGreedy, 150)};
  const auto expected = plain(one);
  const auto actual = run_requests(*load(), one, kDrafts);
  expect_same(actual, expected, "n-gram");
  const std::vector<Request> drawn{request(0, 40, kDrawn, 100)};
  expect_same(run_requests(*load(), drawn, kDrafts), plain(drawn), "n-gram, drawn");
}

TEST_P(Drafts, ThatAPlanCannotHaveAreRefused) {
  const auto engine = load();
  StepPlan plan;
  plan.admit = {request(0, 20, kGreedy, 10).admission};
  for (int32_t b = 0; b < kBlocksPerSlot; ++b) plan.blocks.push_back({0, b});
  plan.rows = {{0, 20}};
  plan.drafts = kDrafts + 1;
  std::string message;
  const auto refused = [&](const StepPlan& p) { return failure_of([&] { engine->step(p); }, &message); };
  EXPECT_EQ(refused(plan), "EngineFault");
  EXPECT_TRUE(contains(message, "a slot may hold 0 to 4")) << message;
  plan.drafts = 0;
  plan.rows = {{0, 20 + kDrafts + 1}};
  EXPECT_EQ(refused(plan), "EngineFault");
  EXPECT_TRUE(contains(message, "the 4 drafts that a slot may hold")) << message;
  plan.admit[0].max_length = 24;
  plan.rows = {{0, 24}};
  EXPECT_EQ(refused(plan), "EngineFault");
  EXPECT_TRUE(contains(message, "up to maxLength (24)")) << message;
}

INSTANTIATE_TEST_SUITE_P(Models, Drafts,
                         ::testing::Values(Model{"llama_reference", false, "reference"},
                                           Model{"llama_portable", false, "portable"},
                                           Model{"llama_auto", false, "auto"},
                                           Model{"hybrid_reference", true, "reference"},
                                           Model{"hybrid_portable", true, "portable"},
                                           Model{"hybrid_auto", true, "auto"}),
                         [](const auto& info) { return std::string(info.param.name); });

// Two ranks with a drafter each; the requests' outputs.
std::vector<Said> on_two_ranks(const TempDir& dir, const std::vector<Request>& requests, int32_t drafts,
                               const std::vector<std::vector<int32_t>>& truths, bool ahead = false) {
  const TestSegment segment(2);
  const auto load = [&](int32_t rank) {
    const EngineOptions options =
        room_for_four(dir, {DraftMethod::kNgram, kDrafts}, RankPlace{rank, 2, segment.descriptor()});
    return std::make_unique<Engine>(
        options, std::make_unique<ReferenceBackend>(), [](auto, auto) {},
        std::make_unique<OracleDrafter>(truths, std::vector<int32_t>{4, 0, 2, 1}));
  };
  std::thread follower([&] { load(1)->follow(); });
  std::vector<Said> said;
  {
    const auto engine = load(0);
    said = run_requests(*engine, requests, drafts, ahead);
  }
  follower.join();
  return said;
}

TEST(DraftsOnRanks, GiveTheSameBits) {
  TempDir dir;
  for (const bool hybrid : {false, true}) {
    write_checkpoint(dir, hybrid ? tiny_hybrid_config() : tiny_llama_config(),
                     hybrid ? tiny_hybrid_tensors() : tiny_llama_tensors());
    std::vector<Request> requests{request(0, 70, kDrawn), request(1, 9, kGreedy)};
    requests[1].joins_at = 1;
    const auto plain = on_two_ranks(dir, requests, 0, {});
    for (const bool ahead : {false, true}) {
      const auto drafted = on_two_ranks(dir, requests, kDrafts, truths_of(requests, plain), ahead);
      for (size_t i = 0; i < requests.size(); ++i) {
        EXPECT_TRUE(drafted[i].same_as(plain[i])) << i;
        EXPECT_LT(drafted[i].steps, plain[i].steps);
      }
    }
  }
}

TEST(NgramDrafter, ProposesWhatFollowedTheLongestMatch) {
  const auto drafts = [](std::vector<int32_t> tokens, int32_t most) {
    std::vector<int32_t> found;
    look_up(tokens, most, found);
    return found;
  };
  using V = std::vector<int32_t>;
  EXPECT_EQ(drafts({1, 2, 3, 4, 9, 1, 2}, 3), (V{3, 4, 9}));
  EXPECT_EQ(drafts({1, 2, 3, 7, 1, 2, 8, 1, 2}, 1), (V{8})) << "of equal matches the last";
  EXPECT_EQ(drafts({5, 1, 2, 3, 7, 1, 2, 8, 5, 1, 2}, 2), (V{3, 7}))
      << "the longer match, though it is older";
  EXPECT_EQ(drafts({4, 6, 4, 6}, 5), (V{4, 6, 4, 6, 4})) << "a repetition continues";
  EXPECT_EQ(drafts({1, 2, 3, 1}, 3), V{}) << "one token is no match";
  EXPECT_EQ(drafts({1}, 3), V{});
}

}  // namespace
}  // namespace llmservice
