// What a rank has of mixtures of experts and of interleaved projections.
#include <gtest/gtest.h>

#include "failures.h"
#include "model/gdn_bands.h"
#include "model/shard.h"
#include "moe_support.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

TEST(MoeShard, KeepsEveryExpertAndDividesItsWidth) {
  ModelConfig whole = moe_config();
  whole.moe->shared_intermediate = 32;
  const ModelConfig part = shard_config(whole, {1, 2});
  EXPECT_EQ(part.moe->experts, kExperts);
  EXPECT_EQ(part.moe->top_k, 2);
  EXPECT_EQ(part.moe->intermediate, kWidth / 2);
  EXPECT_EQ(part.moe->shared_intermediate, 16);
  whole.moe->intermediate = 161;
  std::string message;
  EXPECT_EQ(failure_of([&] { shard_config(whole, {0, 2}); }, &message), "ParallelismInvalid");
  EXPECT_TRUE(contains(message, "moe_intermediate_size (161)"));
}

TEST(GdnBands, GatherThePartsOfInterleavedKeyHeads) {
  ModelConfig config = tiny_hybrid_config();
  config.gdn = {.k_heads = 2, .v_heads = 4, .k_dim = 16, .v_dim = 8, .conv_kernel = 4, .interleaved = true};
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
  // As GGUF files have them: the rank's heads of q, k, v and z, which lie one kind after the other.
  const GdnBands apart = gdn_bands(config, {1, 2}, "x.", true);
  EXPECT_EQ(begins(apart.qkvz), (std::vector<Range>{{16, 16}, {48, 16}, {80, 16}, {16, 16}}));
  EXPECT_EQ(begins(apart.ba), begins(second.ba));
}

TEST(GdnBands, FollowValueHeadsInRounds) {
  ModelConfig config = tiny_hybrid_config();
  config.gdn = {.k_heads = 2, .v_heads = 6, .k_dim = 16, .v_dim = 8, .conv_kernel = 4, .tiled = true};
  const auto rows = [](const std::vector<Band>& bands) {
    std::vector<Range> all;
    for (const Band& band : bands) all.push_back(band.rows);
    return all;
  };
  // q and k have 32 rows each, then come six heads of eight: 0 and 1, 2 and 3, 4 and 5.
  const GdnBands second = gdn_bands(config, {1, 2}, "x.");
  EXPECT_EQ(rows(second.qkvz),
            (std::vector<Range>{{16, 16}, {48, 16}, {72, 8}, {88, 8}, {104, 8}, {8, 8}, {24, 8}, {40, 8}}));
  EXPECT_EQ(rows(second.ba), (std::vector<Range>{{1, 1}, {3, 1}, {5, 1}, {1, 1}, {3, 1}, {5, 1}}));
  EXPECT_EQ(rows(gdn_bands(config, {}, "x.").qkvz),
            (std::vector<Range>{{0, 32}, {32, 32}, {64, 48}, {0, 48}}));
  const ModelConfig part = shard_config(config, {1, 2});
  EXPECT_EQ(part.gdn->v_heads, 3);
  EXPECT_TRUE(part.gdn->tiled);
}

}  // namespace
}  // namespace llmservice
