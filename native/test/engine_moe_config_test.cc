// Mixtures of experts in config.json: which layers have them, how many there are, and what a rank has of
// them.
#include <gtest/gtest.h>

#include "failures.h"
#include "model/gdn_bands.h"
#include "model/shard.h"
#include "moe_support.h"

namespace llmservice {
namespace {

using nlohmann::json;
using namespace llmservice::testing;

TEST(MoeConfig, NormalizesTopKByArchitecture) {
  const auto normalizes = [](json j) { return parse_model_config(j.dump()).moe->normalize_top_k; };
  EXPECT_FALSE(normalizes(moe_config("qwen3_moe")));
  EXPECT_TRUE(normalizes(moe_config("qwen3_next")));
  for (const char* type : {"qwen3_moe", "qwen3_next", "qwen3_5_moe", "qwen3_5_moe_text"}) {
    for (const bool wanted : {true, false}) {
      json j = moe_config(type);
      j["norm_topk_prob"] = wanted;
      EXPECT_EQ(normalizes(j), wanted || std::string(type).starts_with("qwen3_5")) << type;
    }
  }
}

TEST(MoeConfig, HasASharedExpertInHybridsOnly) {
  EXPECT_EQ(parse_model_config(moe_config("qwen3_moe").dump()).moe->shared_intermediate, 0);
  EXPECT_EQ(parse_model_config(moe_config("qwen3_next").dump()).moe->shared_intermediate, 32);
  EXPECT_EQ(parse_model_config(moe_config("qwen3_5_moe").dump()).moe->shared_intermediate, 32);
}

TEST(MoeConfig, PlacesDenseLayers) {
  using enum FeedForwardKind;
  json j = moe_config();
  j["num_hidden_layers"] = 4;
  j["decoder_sparse_step"] = 2;
  j["mlp_only_layers"] = {3};
  const ModelConfig some = parse_model_config(j.dump());
  EXPECT_EQ(some.feed_forward, (std::vector{kDense, kMoe, kDense, kDense}));
  EXPECT_EQ(some.intermediate, 96);
  j["model_type"] = "qwen3_5_moe";  // has no such fields
  EXPECT_EQ(parse_model_config(j.dump()).feed_forward, std::vector(4, kMoe));
}

TEST(MoeConfig, NeedsAnIntermediateSizeForDenseLayersOnly) {
  json j = moe_config();
  j.erase("intermediate_size");
  EXPECT_EQ(parse_model_config(j.dump()).intermediate, 0);
  j["mlp_only_layers"] = {0};
  std::string message;
  EXPECT_EQ(failure_of([&] { parse_model_config(j.dump()); }, &message), "CheckpointCorrupt");
  EXPECT_TRUE(contains(message, "intermediate_size"));
}

TEST(MoeConfig, ReadsTheNameThatNewerReleasesGiveTheNumberOfExperts) {
  json j = moe_config();
  j.erase("num_experts");
  j["num_local_experts"] = 5;
  EXPECT_EQ(parse_model_config(j.dump()).moe->experts, 5);
}

TEST(MoeConfig, RefusesMoreExpertsPerTokenThanThereAre) {
  json j = moe_config();
  j["num_experts_per_tok"] = kExperts + 1;
  std::string message;
  EXPECT_EQ(failure_of([&] { parse_model_config(j.dump()); }, &message), "CheckpointCorrupt");
  EXPECT_TRUE(contains(message, "more than the 3 experts"));
}

TEST(MoeShard, KeepsEveryExpertAndDividesItsWidth) {
  json j = moe_config("qwen3_next");
  const ModelConfig whole = parse_model_config(j.dump());
  const ModelConfig part = shard_config(whole, {1, 2});
  EXPECT_EQ(part.moe->experts, kExperts);
  EXPECT_EQ(part.moe->top_k, 2);
  EXPECT_EQ(part.moe->intermediate, kWidth / 2);
  EXPECT_EQ(part.moe->shared_intermediate, 16);
  j["moe_intermediate_size"] = 161;
  std::string message;
  EXPECT_EQ(failure_of(
                [&] {
                  shard_config(parse_model_config(j.dump()), {0, 2});
                },
                &message),
            "ParallelismInvalid");
  EXPECT_TRUE(contains(message, "moe_intermediate_size (161)"));
}

TEST(GdnBands, GatherThePartsOfInterleavedKeyHeads) {
  const ModelConfig config = parse_model_config(moe_config("qwen3_next").dump());
  // Per key head: q 16, k 16, two v heads of 8, their z; b 2, a 2.
  const auto begins = [](const std::vector<Band>& bands) {
    std::vector<Range> rows;
    for (const Band& band : bands) rows.push_back(band.rows);
    return rows;
  };
  const GdnBands all = gdn_bands(config, {}, "x.");
  EXPECT_EQ(
      begins(all.qkvz),
      (std::vector<Range>{{0, 16}, {64, 16}, {16, 16}, {80, 16}, {32, 16}, {96, 16}, {48, 16}, {112, 16}}));
  EXPECT_EQ(begins(all.ba), (std::vector<Range>{{0, 2}, {4, 2}, {2, 2}, {6, 2}}));
  const GdnBands second = gdn_bands(config, {1, 2}, "x.");
  EXPECT_EQ(begins(second.qkvz), (std::vector<Range>{{64, 16}, {80, 16}, {96, 16}, {112, 16}}));
  EXPECT_EQ(begins(second.ba), (std::vector<Range>{{4, 2}, {6, 2}}));
  EXPECT_EQ(second.qkvz.front().stored_rows, 128);
}

}  // namespace
}  // namespace llmservice
