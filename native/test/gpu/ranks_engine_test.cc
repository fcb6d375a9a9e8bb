// Engines on several ranks, on devices of their own where there are several, else on one: what they say is
// what one rank says, in the same bits however it is run, and a rank that is killed holds nobody up.
#include <atomic>
#include <chrono>

#include "adapter_support.h"
#include "drafters_support.h"
#include "rank_engines_support.h"

namespace llmservice::testing {
namespace {

const std::vector<Request> kTogether = {request(0, 66, 3), request(1, 5, 4)};

TEST_P(RankEngines, SayWhatOneRankSays) {
  const std::vector<Request> one = {request(0, 66, 8)};
  const Said expected = said_by({.size = 1}, one).front();
  const Said said = said_by({.size = 2}, one).front();
  const float tolerance = 0.08f;  // BF16 operands, summed in another order
  size_t same = 0;
  for (; same < expected.tokens.size() && said.tokens[same] == expected.tokens[same]; ++same) {
    EXPECT_NEAR(said.logprobs[same], expected.logprobs[same], tolerance) << "token " << same;
  }
  EXPECT_GT(same, 0u);
  // From here on the two diverge: this must have been a near tie.
  if (same < expected.tokens.size()) {
    EXPECT_LT(expected.top_logprobs[2 * same] - expected.top_logprobs[2 * same + 1], tolerance);
  }
}

TEST_P(RankEngines, OthersGraphsAndTurnsChangeNoBit) {
  const nlohmann::json report = report_by({.size = 2}, [](Engine& engine, const Backend& backend) {
    nlohmann::json runs = {{"together", to_json(run_requests(engine, kTogether, 0))}};
    for (int again = 0; again < 2; ++again) {
      std::vector<Said> alone;
      for (const Request& each : kTogether) alone.push_back(run_requests(engine, {each}, 0).front());
      runs["alone"].push_back(to_json(alone));
    }
    runs["replayed"] = backend.graph_counts().replayed;
    return runs;
  });
  const std::vector<Said> together = said_in(report.at("together"));
  const std::vector<Said> plain = said_by({.size = 2, .graphs = 0}, kTogether);
  for (size_t i = 0; i < kTogether.size(); ++i) {
    for (const nlohmann::json& alone : report.at("alone")) {
      EXPECT_TRUE(said_in(alone)[i].same_as(together[i])) << "sequence " << i;
    }
    EXPECT_TRUE(plain[i].same_as(together[i])) << "sequence " << i << " without graphs";
  }
  // Launches repeat from step to step, or none would be a graph: the layers and the head of each decode of
  // the second time alone.
  EXPECT_GE(report.at("replayed").get<int>(), 2 * (2 + 3));
}

// Of a llama, whose every product an adapter changes.
class RankAdapters : public RankEngines {};

TEST_P(RankAdapters, SayWhatOneRankSaysAndTheSameAloneAndTogether) {
  const auto adapted = [&](Engine& engine, const Backend&) {
    engine.load_adapter(tiny_adapter(dir_, 1, 8));
    engine.load_adapter(tiny_adapter(dir_, 2, 16));
    std::vector<Request> both = kTogether;
    for (Request& each : both) each.admission.adapter = each.admission.slot + 1;
    std::vector<Said> alone;
    for (const Request& each : both) alone.push_back(run_requests(engine, {each}, 0).front());
    return nlohmann::json{{"together", to_json(run_requests(engine, both, 0))}, {"alone", to_json(alone)}};
  };
  const nlohmann::json one = report_by({.size = 1, .max_adapter_rank = 16}, adapted);
  const nlohmann::json two = report_by({.size = 2, .max_adapter_rank = 16}, adapted);
  const std::vector<Said> expected = said_in(one.at("alone")), said = said_in(two.at("alone"));
  for (size_t i = 0; i < kTogether.size(); ++i) {
    EXPECT_EQ(said[i].tokens.front(), expected[i].tokens.front()) << "sequence " << i;
    EXPECT_NEAR(said[i].logprobs.front(), expected[i].logprobs.front(), 0.08f) << "sequence " << i;
    EXPECT_TRUE(said_in(two.at("together"))[i].same_as(said[i])) << "sequence " << i;
  }
}

// Of a model with a layer for multi-token prediction.
class RankDrafts : public RankEngines {};

TEST_P(RankDrafts, ChangeNoBit) {
  const std::vector<Request> both = {request(0, 66, 6), request(1, 5, 6)};
  const std::vector<Said> expected = said_by({}, both);
  const std::vector<Said> said = said_by({.speculation = {DraftMethod::kMtp, 3}}, both);
  for (size_t i = 0; i < both.size(); ++i) EXPECT_TRUE(said[i].same_as(expected[i])) << "sequence " << i;
}

TEST_P(RankEngines, DraftModelsChangeNoBit) {
  const std::vector<Request> both = {request(0, 66, 5), request(1, 5, 5)};
  const std::vector<Said> expected = said_by({}, both);
  TempDir eagle3, model;
  write_checkpoint(model, tiny_llama_config(), tiny_llama_tensors(2));
  for (const auto& [method, head] : {std::pair{DraftMethod::kEagle3, wide_eagle3(eagle3)},
                                     std::pair{DraftMethod::kDraftModel, model.checkpoint()}}) {
    const std::vector<Said> said = said_by({.speculation = {method, 3}, .head = head}, both);
    for (size_t i = 0; i < both.size(); ++i) EXPECT_TRUE(said[i].same_as(expected[i])) << "sequence " << i;
  }
}

// Of the model's own weights: right on both ranks, or drafts would be rejected.
TEST_P(RankEngines, ADraftModelDraftsOnBothRanksWhatTheModelSays) {
  if (GetParam().hybrid()) return;
  const std::vector<Request> one = {request(0, 20, 9)};
  const Speculation speculation{DraftMethod::kDraftModel, 3};
  const auto said = said_by({.speculation = speculation, .head = dir_.checkpoint()}, one);
  EXPECT_EQ(said.front().steps, 1 + 8 / 4);
}

TEST_P(RankEngines, AKilledRankHoldsNobodyUp) {
  const Shared<std::atomic<int>> rounds;
  const TestSegment segment(2);
  std::vector<RankProcess> processes = start({.size = 2}, &segment, [&](Engine& engine, const Backend&) {
    for (;; ++*rounds) run_requests(engine, {request(0, 20, 4)}, 0);
    return nlohmann::json();
  });
  while (rounds->load() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const pid_t killed = processes[0].pid();
  processes[0].signal(SIGKILL);
  EXPECT_EQ(processes[1].wait(), 0);
  EXPECT_EQ(report().at("reason"), "EngineFault");
  EXPECT_TRUE(contains(report().at("message"), "Rank 1 of 2 (process " + std::to_string(killed) + ") ended"));
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, RankEngines,
                         ::testing::Values(Checkpoint{"llama", TinyModel::kLlama, LoadQuantization::kNone},
                                           Checkpoint{"hybrid", TinyModel::kHybrid, LoadQuantization::kNone}),
                         name_of_checkpoint);
INSTANTIATE_TEST_SUITE_P(Checkpoints, RankAdapters,
                         ::testing::Values(Checkpoint{"llama", TinyModel::kLlama, LoadQuantization::kNone}),
                         name_of_checkpoint);
INSTANTIATE_TEST_SUITE_P(Checkpoints, RankDrafts,
                         ::testing::Values(Checkpoint{"hybrid", TinyModel::kHybrid, LoadQuantization::kNone}),
                         name_of_checkpoint);

}  // namespace
}  // namespace llmservice::testing
