// Draft models: the pieces that EAGLE-3's has of its own (fc over three states, its vocabulary, where its
// cache's entries lie), and whole models that draft. What both propose on real layouts is in
// test/golden/drafters.test.ts.
#include <gtest/gtest.h>

#include "backends/cpu/backend.h"
#include "eagle3_support.h"
#include "failures.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

std::vector<std::vector<float>> three_states() {
  return {uniform_rows(kRows, kDraftHidden, 1), uniform_rows(kRows, kDraftHidden, 2),
          uniform_rows(kRows, kDraftHidden, 3)};
}

TEST(Eagle3Pieces, FcJoinsThreeStatesNormedOrNot) {
  const auto inputs = three_states();
  for (const bool normed : {false, true}) {
    // The layer adds nothing: what comes of it is what went in, behind the last norm.
    Drafter3 drafter(0, normed, false);
    drafter.read_of_model(inputs, 0, kRows);
    const auto got = drafter.run(uniform_rows(kRows, kDraftHidden, 4), 1);
    const auto fusion = values_of(drafter.tensor("eagle3.fusion.weight"));
    const auto norm = values_of(drafter.tensor("eagle3.norm.weight"));
    for (int64_t row = 0; row < kRows; ++row) {
      std::vector<double> joined;
      for (const auto& input : inputs) {
        joined.insert(joined.end(), input.begin() + row * kDraftHidden,
                      input.begin() + (row + 1) * kDraftHidden);
      }
      if (normed) joined = rms_normed(joined, values_of(drafter.tensor("eagle3.input_norm.weight")));
      std::vector<double> fused(kDraftHidden, 0);
      for (int64_t i = 0; i < kDraftHidden; ++i) {
        for (int64_t j = 0; j < 3 * kDraftHidden; ++j)
          fused[i] += fusion[i * 3 * kDraftHidden + j] * joined[j];
      }
      const auto wanted = rms_normed(fused, norm);
      for (int64_t i = 0; i < kDraftHidden; ++i)
        EXPECT_NEAR(got[row * kDraftHidden + i], wanted[i], 1e-4) << normed;
    }
  }
}

TEST(Eagle3Pieces, LaterDraftsContinueBeforeTheLastNormOrBehindIt) {
  for (const bool behind : {false, true}) {
    Drafter3 drafter(0, false, behind);
    drafter.read_of_model(three_states(), 0, 1);
    const auto first = drafter.run(uniform_rows(1, kDraftHidden, 4), 1);
    const auto second = drafter.run(uniform_rows(1, kDraftHidden, 5), 2, true);
    const auto norm = values_of(drafter.tensor("eagle3.norm.weight"));
    const auto wanted = behind ? rms_normed({first.begin(), first.end()}, norm)
                               : std::vector<double>(first.begin(), first.end());
    for (int64_t i = 0; i < kDraftHidden; ++i) EXPECT_NEAR(second[i], wanted[i], 1e-5) << behind;
  }
}

TEST(Eagle3Pieces, LogitsLieAtTheModelsTokensAndNowhereElse) {
  Drafter3 drafter(0.3F, false, false);
  drafter.read_of_model(three_states(), 0, 2);
  const auto hidden = drafter.run(uniform_rows(2, kDraftHidden, 4), 1);
  const auto logits = drafter.logits(2);
  const auto head = values_of(drafter.tensor("eagle3.lm_head.weight"));
  for (int64_t row = 0; row < 2; ++row) {
    for (int32_t token = 0; token < kVocab; ++token) {
      const float logit = logits[row * kVocab + token];
      const int32_t own = (token - 3) / 2;
      if (token < 3 || token % 2 == 0 || own >= kDraftVocab) {
        EXPECT_LT(logit, -1e29F) << token;
        continue;
      }
      double wanted = 0;
      for (int64_t i = 0; i < kDraftHidden; ++i)
        wanted += head[own * kDraftHidden + i] * hidden[row * kDraftHidden + i];
      EXPECT_NEAR(logit, wanted, 1e-4) << token;
    }
  }
}

TEST(Eagle3Pieces, EntriesOfEarlierRunsAreReadAtTheirPositions) {
  const auto inputs = three_states();
  const auto embeddings = uniform_rows(kRows, kDraftHidden, 4);
  Drafter3 whole(0.3F, false, false);
  whole.read_of_model(inputs, 0, kRows);
  const auto wanted = whole.run(embeddings, 1);
  Drafter3 parts(0.3F, false, false);
  parts.read_of_model(inputs, 0, 3);
  parts.run({embeddings.begin(), embeddings.begin() + 3 * kDraftHidden}, 1);
  // Of a draft that is rejected: its entry is written over.
  parts.run(uniform_rows(1, kDraftHidden, 9), 4, true);
  parts.read_of_model(inputs, 3, 2);
  const auto got = parts.run({embeddings.begin() + 3 * kDraftHidden, embeddings.end()}, 4);
  EXPECT_TRUE(std::equal(got.begin(), got.end(), wanted.begin() + 3 * kDraftHidden));
}

class DraftModel : public ::testing::Test {
 protected:
  void SetUp() override {
    write_checkpoint(model_, tiny_llama_config(), tiny_llama_tensors());
    write_checkpoint(other_, tiny_llama_config(), tiny_llama_tensors(2));
  }

  static std::unique_ptr<Engine> load(const TempDir& model, const TempDir* draft_model) {
    const DraftMethod method = draft_model == nullptr ? DraftMethod::kNone : DraftMethod::kDraftModel;
    EngineOptions all = room_for_four(model, {method, draft_model == nullptr ? 0 : 3});
    if (draft_model != nullptr) all.head = draft_model->checkpoint();
    return std::make_unique<Engine>(all, make_cpu_backend({.threads = 2}), [](auto, auto) {});
  }
  std::string refusal(const TempDir& draft_model, std::string* message) {
    return failure_of([&] { load(model_, &draft_model); }, message);
  }

  TempDir model_, other_;
};

std::vector<Request> three_requests() {
  std::vector<Request> requests(3);
  for (int32_t i = 0; i < 3; ++i) {
    std::vector<int32_t> tokens(15 + 47 * i);
    for (size_t t = 0; t < tokens.size(); ++t) tokens[t] = static_cast<int32_t>((t * 31 + i) % kVocab);
    const auto length = static_cast<int32_t>(tokens.size());
    requests[i] = {.admission = {.slot = i,
                                 .tokens = tokens,
                                 .prompt_length = length,
                                 .max_length = length + 24,
                                 .stop_tokens = {},
                                 .sampling = {.seed = 5, .top_logprobs = 2}},
                   .joins_at = 2 * i,
                   .chunk = 16};
  }
  return requests;
}

TEST_F(DraftModel, OfTheModelsOwnWeightsIsAlwaysRightAndOneOfOthersIsCaughtUpWith) {
  const auto requests = three_requests();
  const auto plain = run_requests(*load(model_, nullptr), requests, 0);
  const auto own = run_requests(*load(model_, &model_), requests, 3);
  const auto other = run_requests(*load(model_, &other_), requests, 3);
  for (size_t i = 0; i < requests.size(); ++i) {
    EXPECT_TRUE(own[i].same_as(plain[i])) << i;
    EXPECT_TRUE(other[i].same_as(plain[i])) << i;
    // One token with the prompt's last rows, then four a step.
    EXPECT_EQ(own[i].steps, 1 + (24 - 1 + 3) / 4) << i;
  }
}

TEST_F(DraftModel, OfAnotherVocabularyOrWithRecurrentStateIsRefused) {
  ModelConfig config = tiny_llama_config();
  config.vocab = 77;
  write_checkpoint(other_, config, tiny_llama_tensors());
  std::string message;
  EXPECT_EQ(refusal(other_, &message), "InvalidEngineConfig");
  EXPECT_TRUE(contains(message, "vocab_size 77 where the model has 211")) << message;
  write_checkpoint(other_, tiny_hybrid_config(), tiny_hybrid_tensors());
  EXPECT_EQ(refusal(other_, &message), "InvalidEngineConfig");
  EXPECT_TRUE(contains(message, "no recurrent state")) << message;
}

TEST_F(DraftModel, WhoseFileIsCutShortOrGoneIsNamedWithWhatToDo) {
  const auto file = other_.path() / kWeightsFile;
  std::string message;
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  EXPECT_EQ(refusal(other_, &message), "CheckpointCorrupt");
  EXPECT_TRUE(contains(message, "The draft model in " + other_.path().string())) << message;
  EXPECT_TRUE(contains(message, "Put all of its files there")) << message;
  std::filesystem::remove(file);
  EXPECT_EQ(refusal(other_, &message), "CheckpointIncomplete");
  EXPECT_TRUE(contains(message, "cannot be opened")) << message;
}

}  // namespace
}  // namespace llmservice
