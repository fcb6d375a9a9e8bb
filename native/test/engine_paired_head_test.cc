// The layer for multi-token prediction from a checkpoint paired with one that has none.
#include <gtest/gtest.h>

#include "backends/cpu/backend.h"
#include "drafts_support.h"
#include "failures.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

constexpr int32_t kDrafts = 3;

Tensors only_mtp() {
  Tensors tensors;
  add_mtp(tensors);
  return tensors;
}

class PairedHead : public ::testing::Test {
 protected:
  void SetUp() override {
    Tensors trunk = tiny_hybrid_tensors();
    trunk.erase("mtp.fc.weight");
    write_checkpoint(trunk_, tiny_hybrid_config(), trunk);
    write_checkpoint(head_, tiny_hybrid_config(), only_mtp());
    Tensors whole = tiny_hybrid_tensors();
    add_mtp(whole);
    write_checkpoint(whole_, tiny_hybrid_config(), whole);
  }

  static EngineOptions options(const TempDir& model, const Speculation& speculation) {
    return room_for_four(model, speculation, std::nullopt, 1);
  }
  std::unique_ptr<Engine> load(const TempDir& model, const std::filesystem::path& head) {
    const ModelProgress progress = [this](uint64_t done, uint64_t total) { done_ = done, total_ = total; };
    return std::make_unique<Engine>(options(model, {DraftMethod::kMtp, kDrafts, head}),
                                    make_cpu_backend({.threads = 2}), progress);
  }
  std::string refusal(const std::filesystem::path& head, std::string* message) {
    return failure_of([&] { load(trunk_, head); }, message);
  }

  TempDir trunk_, head_, whole_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

TEST_F(PairedHead, DraftsAsTheOneCheckpointDoes) {
  std::vector<Request> requests(2);
  for (int32_t i = 0; i < 2; ++i) {
    std::vector<int32_t> tokens(40 + 30 * i);
    for (size_t t = 0; t < tokens.size(); ++t) tokens[t] = static_cast<int32_t>((t * 31 + i) % 211);
    const auto length = static_cast<int32_t>(tokens.size());
    requests[i].admission = {.slot = i,
                             .tokens = tokens,
                             .prompt_length = length,
                             .max_length = length + 24,
                             .stop_tokens = {},
                             .sampling = {.seed = 5, .top_logprobs = 2}};
  }
  const auto one = run_requests(*load(whole_, {}), requests, kDrafts);
  const uint64_t stored = total_;
  const auto paired = run_requests(*load(trunk_, head_.path()), requests, kDrafts);
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_TRUE(paired[i].same_as(one[i])) << i;
    EXPECT_EQ(paired[i].steps, one[i].steps) << "other drafts were accepted";
  }
  EXPECT_EQ(total_, stored);
  EXPECT_EQ(done_, total_);
}

TEST_F(PairedHead, OfAnotherModelIsRefusedByWhatDiffers) {
  for (const auto& [field, value] : {std::pair{"hidden_size", 128}, std::pair{"vocab_size", 77},
                                     std::pair{"intermediate_size", 80}, std::pair{"head_dim", 32}}) {
    nlohmann::json config = tiny_hybrid_config();
    config["text_config"][field] = value;
    write_checkpoint(head_, config, only_mtp());
    std::string message;
    EXPECT_EQ(refusal(head_.path(), &message), "InvalidEngineConfig");
    EXPECT_TRUE(contains(message, std::string(field) + " " + std::to_string(value) + " where")) << message;
  }
}

TEST_F(PairedHead, WithoutTheLayerIsRefused) {
  std::string message;
  EXPECT_EQ(refusal(trunk_.path(), &message), "InvalidEngineConfig");
  EXPECT_TRUE(contains(message, "mtp.fc.weight")) << message;
  EXPECT_EQ(refusal(head_.path() / "absent", &message), "CheckpointIncomplete");
}

TEST_F(PairedHead, OfAMethodWithoutAHeadIsRefused) {
  const EngineOptions ngram = options(trunk_, {DraftMethod::kNgram, kDrafts, head_.path()});
  std::string message;
  EXPECT_EQ(failure_of([&] { Engine(ngram, make_cpu_backend({.threads = 1}), [](auto, auto) {}); }, &message),
            "InvalidEngineConfig");
  EXPECT_TRUE(contains(message, "headDir")) << message;
}

}  // namespace
}  // namespace llmservice
