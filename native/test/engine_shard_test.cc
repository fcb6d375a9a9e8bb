// Tensor-parallel slicing: two ranks together hold exactly what one rank holds.
#include <gtest/gtest.h>

#include "failures.h"
#include "model/layers.h"
#include "ops/reference.h"
#include "tiny_checkpoint.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

TEST(Shard, DividesEvenlyOrSaysWhatCannotBeDivided) {
  EXPECT_EQ(shard_range(12, {.rank = 1, .size = 2}, "x"), (Range{6, 6}));
  std::string message;
  EXPECT_EQ(failure_of([] { shard_range(7, {.rank = 0, .size = 2}, "intermediate_size"); }, &message),
            "ParallelismInvalid");
  EXPECT_TRUE(contains(message, "intermediate_size (7)"));
}

TEST(Shard, KeepsQueriesWithTheirKvHead) {
  const HeadShard split = shard_heads(24, 4, {.rank = 1, .size = 2});
  EXPECT_EQ(split.q, (Range{12, 12}));
  EXPECT_EQ(split.kv, (Range{2, 2}));
  // Fewer KV heads than ranks: ranks 2 and 3 hold the same one.
  EXPECT_EQ(shard_heads(16, 2, {.rank = 2, .size = 4}).kv, (Range{1, 1}));
  EXPECT_EQ(shard_heads(16, 2, {.rank = 3, .size = 4}).kv, (Range{1, 1}));
  EXPECT_EQ(failure_of([] { shard_heads(12, 4, {.rank = 0, .size = 3}); }), "ParallelismInvalid");
}

TEST(Shard, NamesTheFieldOfKvHeadsThatDivideNothing) {
  ModelConfig config{};
  config.heads = 12;
  config.kv_heads = 3;
  config.global_attention.emplace();
  config.global_attention->kv_heads = 4;
  std::string message;
  EXPECT_EQ(failure_of([&] { shard_config(config, {.rank = 0, .size = 3}); }, &message),
            "ParallelismInvalid");
  EXPECT_TRUE(contains(message, "num_global_key_value_heads (4)")) << message;
}

TEST(BandReader, ReadsColumnsAsIfTheyWereStoredAlone) {
  std::vector<std::byte> stored;
  for (int i = 0; i < 6 * 10; ++i) stored.push_back(static_cast<std::byte>(i));
  const TensorReader source = [&](uint64_t at, std::span<std::byte> out) {
    std::copy_n(stored.begin() + static_cast<int64_t>(at), out.size(), out.begin());
  };
  const TensorReader band = band_reader(source, 10, {2, 3}, {4, 5}, 1);
  std::vector<std::byte> out(8);
  band(3, out);  // begins and ends inside rows
  const int expected[] = {27, 28, 34, 35, 36, 37, 38, 44};
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(static_cast<int>(out[i]), expected[i]);
}

// What a band of columns announces and reads, in order: "+offset:bytes" and "offset".
TEST(BandReader, AnnouncesRunsOfRowsBeforeTheirPiecesAreRead) {
  constexpr int64_t kRow = 200 << 10;  // two to a run
  std::vector<std::string> calls;
  const TensorReader source = [&](uint64_t at, std::span<std::byte> out) {
    EXPECT_EQ(out.size(), 4096u);
    calls.push_back(std::to_string(at / kRow) + "." + std::to_string(at % kRow));
  };
  const RunAnnouncer announce = [&](uint64_t at, uint64_t bytes) {
    calls.push_back("+" + std::to_string(at / kRow) + "." + std::to_string(at % kRow) + ":" +
                    std::to_string(bytes));
  };
  const TensorReader band = band_reader(source, kRow, {1, 6}, {8192, 4096}, 1, announce);
  std::vector<std::byte> out(5 * 4096);
  band(4096, out);  // rows 2 to 6 of the stored ones
  const std::string two = ":" + std::to_string(kRow + 4096);
  const std::vector<std::string> expected = {"+2.8192" + two, "+4.8192" + two, "2.8192", "3.8192",
                                             "+6.8192:4096",  "4.8192",        "5.8192", "6.8192"};
  EXPECT_EQ(calls, expected);
  calls.clear();
  band_reader(source, kRow, {1, 6}, {8192, 4096}, 1)(0, std::span(out).first(4096));
  EXPECT_EQ(calls, (std::vector<std::string>{"1.8192"}));
}

// A module y = x · Wᵀ as seen by ranks: column-parallel outputs lie side by side, row-parallel outputs add
// up.
class ShardedLayer : public ::testing::Test {
 protected:
  void SetUp() override { write_checkpoint(dir_, tiny_hybrid_config(), tiny_hybrid_tensors()); }

  LayerWeights read(Shard shard, int32_t layer) {
    const auto source = dir_.checkpoint();
    const ModelConfig& config = source->config;
    const Checkpoint checkpoint(*source);
    WeightReader reader(checkpoint, backend_, DType::kF32, [](uint64_t) {});
    return read_layer(reader, config, shard, config.layers[layer], config.feed_forward[layer],
                      "model.language_model.layers." + std::to_string(layer) + ".");
  }

  // Gone with the layer: for use within one expression.
  static const Linear& down(const LayerWeights& layer) {
    return std::get<MlpWeights>(layer.feed_forward).down;
  }

  std::vector<float> apply(const Linear& linear, const std::vector<float>& x) {
    std::vector<float> out(linear.width());
    linear.apply(backend_, x.data(), 1, out.data());
    return out;
  }

  TempDir dir_;
  ReferenceBackend backend_;
};

std::vector<float> ramp(int64_t count) {
  std::vector<float> x(count);
  for (int64_t i = 0; i < count; ++i) x[i] = static_cast<float>(i % 7) - 3;
  return x;
}

std::vector<float> slice(const std::vector<float>& x, int64_t begin, int64_t count) {
  return {x.begin() + begin, x.begin() + begin + count};
}

void append(std::vector<float>& to, const std::vector<float>& part) {
  to.insert(to.end(), part.begin(), part.end());
}

TEST_F(ShardedLayer, GatedAttentionHeadsLieSideBySide) {
  const auto x = ramp(64);
  const auto all = apply(std::get<AttentionWeights>(read({}, 1).mixer).qkv, x);
  // One rank: q 64, gates 64, k 32, v 32. Of two ranks, each has half of each part.
  for (const int32_t rank : {0, 1}) {
    std::vector<float> expected;
    append(expected, slice(all, rank * 32, 32));
    append(expected, slice(all, 64 + rank * 32, 32));
    append(expected, slice(all, 128 + rank * 16, 16));
    append(expected, slice(all, 160 + rank * 16, 16));
    EXPECT_EQ(apply(std::get<AttentionWeights>(read({rank, 2}, 1).mixer).qkv, x), expected);
  }
}

TEST_F(ShardedLayer, GdnHeadsAndTheirConvolutionLieSideBySide) {
  const auto x = ramp(64);
  const LayerWeights one = read({}, 0);
  const auto& whole_gdn = std::get<GdnWeights>(one.mixer);
  const auto all = apply(whole_gdn.qkvz, x);  // q 32, k 32, v 64, z 64
  for (const int32_t rank : {0, 1}) {
    const LayerWeights part = read({rank, 2}, 0);
    const auto& gdn = std::get<GdnWeights>(part.mixer);
    std::vector<float> expected;
    append(expected, slice(all, rank * 16, 16));
    append(expected, slice(all, 32 + rank * 16, 16));
    append(expected, slice(all, 64 + rank * 32, 32));
    append(expected, slice(all, 128 + rank * 32, 32));
    EXPECT_EQ(apply(gdn.qkvz, x), expected);
    const float* conv = whole_gdn.conv.data();
    for (int32_t i = 0; i < 16 * 4; ++i) {
      EXPECT_EQ(gdn.conv.data()[i], conv[rank * 16 * 4 + i]);                    // q
      EXPECT_EQ(gdn.conv.data()[16 * 4 + i], conv[32 * 4 + rank * 16 * 4 + i]);  // k
      EXPECT_EQ(gdn.conv.data()[32 * 4 + i], conv[64 * 4 + rank * 32 * 4 + i]);  // first half of v
    }
  }
}

TEST_F(ShardedLayer, RowParallelOutputsAddUp) {
  const auto x = ramp(96);
  const auto all = apply(down(read({}, 0)), x);
  const auto first = apply(down(read({0, 2}, 0)), slice(x, 0, 48));
  const auto second = apply(down(read({1, 2}, 0)), slice(x, 48, 48));
  for (size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(first[i] + second[i], all[i], 1e-4);
}

}  // namespace
}  // namespace llmservice
