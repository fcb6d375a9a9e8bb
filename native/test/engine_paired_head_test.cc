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
  std::unique_ptr<Engine> load(const TempDir& model, std::shared_ptr<const CheckpointSource> head) {
    const ModelProgress progress = [this](uint64_t done, uint64_t total) { done_ = done, total_ = total; };
    EngineOptions all = options(model, {DraftMethod::kMtp, kDrafts});
    all.head = std::move(head);
    return std::make_unique<Engine>(all, make_cpu_backend({.threads = 2}), progress);
  }
  std::string refusal(const TempDir& head, std::string* message) {
    return failure_of([&] { load(trunk_, head.checkpoint()); }, message);
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
  const auto one = run_requests(*load(whole_, nullptr), requests, kDrafts);
  const uint64_t stored = total_;
  const auto paired = run_requests(*load(trunk_, head_.checkpoint()), requests, kDrafts);
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_TRUE(paired[i].same_as(one[i])) << i;
    EXPECT_EQ(paired[i].steps, one[i].steps) << "other drafts were accepted";
  }
  EXPECT_EQ(total_, stored);
  EXPECT_EQ(done_, total_);
}

TEST_F(PairedHead, OfAnotherModelIsRefusedByWhatDiffers) {
  const struct {
    const char* field;
    int32_t ModelConfig::*member;
    int32_t value;
  } table[] = {{"hidden_size", &ModelConfig::hidden, 128},
               {"vocab_size", &ModelConfig::vocab, 77},
               {"intermediate_size", &ModelConfig::intermediate, 80},
               {"head_dim", &ModelConfig::head_dim, 32}};
  for (const auto& [field, member, value] : table) {
    ModelConfig config = tiny_hybrid_config();
    config.*member = value;
    write_checkpoint(head_, config, only_mtp());
    std::string message;
    EXPECT_EQ(refusal(head_, &message), "InvalidEngineConfig");
    EXPECT_TRUE(contains(message, std::string(field) + " " + std::to_string(value) + " where")) << message;
  }
}

TEST_F(PairedHead, WithoutTheLayerIsRefused) {
  std::string message;
  EXPECT_EQ(refusal(trunk_, &message), "InvalidEngineConfig");
  EXPECT_TRUE(contains(message, "mtp.fc.weight")) << message;
}

TEST_F(PairedHead, OfAMethodWithoutAHeadIsRefused) {
  EngineOptions ngram = options(trunk_, {DraftMethod::kNgram, kDrafts});
  ngram.head = head_.checkpoint();
  std::string message;
  EXPECT_EQ(failure_of([&] { Engine(ngram, make_cpu_backend({.threads = 1}), [](auto, auto) {}); }, &message),
            "InvalidEngineConfig");
  EXPECT_TRUE(contains(message, "headDir")) << message;
}

}  // namespace
}  // namespace llmservice
