// Attention of a prompt's chunks on Hopper's warpgroup instructions: close to the scalar reference over the
// same cache, with the same bits however a prompt is cut, and next to rows that are another kernel's.
#include "attention_support.h"
#include "backends/gpu/backend.h"
#include "backends/gpu/vendor/wgmma.h"

namespace llmservice::testing {
namespace {

// As in attention_test.cc.
constexpr float kChunkTolerance = 5e-3f;

// On Hopper, and in the emulator of warps of 32 lanes.
bool runs_here() {
#if defined(LLMSERVICE_GPU_HOST)
  return gpu::kHasWgmma;
#else
  return gpu::tile_order(device().compute_capability()) == gpu::TileOrder::kSwizzled;
#endif
}

struct ChunkedPrompt {
  AttentionShape shape;
  int32_t tokens;
  int32_t chunked_until;
};

class AttentionChunks : public ::testing::TestWithParam<ChunkedPrompt> {
 protected:
  void SetUp() override {
    if (!runs_here()) GTEST_SKIP();
    sequence.chunked_until = GetParam().chunked_until;
  }

  void expect_rows(const std::vector<float>& out, const std::vector<float>& expected, Piece piece,
                   const std::string& what) const {
    for (int32_t p = piece.position; p < piece.position + piece.count; ++p) {
      expect_same_bits(sequence.row(out, p), sequence.row(expected, p), what + ", row " + std::to_string(p));
    }
  }

  const AttentionShape shape = GetParam().shape;
  const int32_t tokens = GetParam().tokens;
  const int32_t chunks = GetParam().chunked_until;
  PagedSequence sequence{shape, tokens};
  const Piece whole = {shape.first, tokens - shape.first};
};

TEST_P(AttentionChunks, AreCloseToTheReference) {
  sequence.write();
  const std::vector<float> out = sequence.attend({whole}), expected = sequence.reference({whole});
  for (int32_t p = shape.first; p < tokens; ++p) {
    expect_close(sequence.row(out, p), sequence.row(expected, p), kChunkTolerance,
                 "row " + std::to_string(p));
  }
}

TEST_P(AttentionChunks, GiveAPositionTheSameBitsHoweverAPromptIsCut) {
  sequence.write();
  const std::vector<float> together = sequence.attend({whole});
  // In chunks, the last with what is behind them; then behind a prefix that a cache holds.
  std::vector<Piece> pieces;
  for (int32_t at = shape.first; at < tokens; at += pieces.back().count) {
    const int32_t border = (at / 64 + 1) * 64;
    pieces.push_back({at, (border < chunks ? border : tokens) - at});
  }
  expect_rows(sequence.attend(pieces), together, whole, "in chunks");
  const Piece end = {chunks - 64, tokens - chunks + 64};
  expect_rows(sequence.attend({end}), together, end, "behind a prefix");
  // Rows behind the chunks are those of a sequence without any.
  sequence.chunked_until = 0;
  const Piece rest = {chunks, tokens - chunks};
  if (rest.count > 0) expect_rows(sequence.attend({rest}), together, rest, "behind the chunks");
}

TEST_P(AttentionChunks, LeaveEarlierPositionsAsTheyAreWhereALaterOneIsNotFinite) {
  sequence.write();
  const Piece last = {chunks - 64, 64};
  const std::vector<float> expected = sequence.attend({last});
  const int32_t bad = chunks - 20;
  sequence.v[bad * sequence.kv_width() + 1] = NAN;
  sequence.k[(bad + 1) * sequence.kv_width() + 1] = NAN;
  sequence.write();
  const std::vector<float> out = sequence.attend({last});
  expect_rows(out, expected, {last.position, bad - last.position}, "before it");
  for (int32_t p = bad; p < chunks; ++p) EXPECT_TRUE(std::isnan(sequence.row(out, p)[1])) << "row " << p;
}

// Heads that share KV in sixes and none that do; blocks of less and of more than a tile; a sequence of
// several tiles, whose last rows see more than one split; positions that hold nothing.
INSTANTIATE_TEST_SUITE_P(
    Prompts, AttentionChunks,
    ::testing::Values(ChunkedPrompt{attention_shape(6, 1, 256, 64, DType::kBF16), 70, 64},
                      ChunkedPrompt{attention_shape(4, 2, 256, 16, DType::kBF16), 137, 128},
                      ChunkedPrompt{attention_shape(1, 1, 256, 192, DType::kBF16), 384, 384},
                      ChunkedPrompt{attention_shape(3, 1, 256, 32, DType::kBF16, 0, 3), 140, 128}),
    [](const ::testing::TestParamInfo<ChunkedPrompt>& info) {
      const AttentionShape& s = info.param.shape;
      return std::to_string(s.heads) + "_heads_by_" + std::to_string(s.kv_heads) + "_in_blocks_of_" +
             std::to_string(s.block_size) + "_over_" + std::to_string(info.param.tokens);
    });

std::vector<std::string> chunk_launches_of(const AttentionShape& shape, const gpu::StepSegments& step,
                                           const ScoreRules& rules = {}) {
  std::vector<std::string> names;
  for (const gpu::Launch& launch : gpu::attention(shape, step, nullptr, 0, {}, nullptr, nullptr, rules))
    names.emplace_back(launch.name);
  return names;
}

TEST(AttentionChunkLaunches, AreForWideHeadsInBf16ThatSeeAllBeforeThem) {
  using Names = std::vector<std::string>;
  const gpu::StepSegments mixed{nullptr, 2, 1024, 1024, 1024, 8}, chunks{nullptr, 1, 1024, 1024, 1024, 0},
      none{nullptr, 1, 1024, 1024};
  const AttentionShape shape = attention_shape(24, 4, 256, 64, DType::kBF16);
  EXPECT_EQ(chunk_launches_of(shape, chunks), (Names{"attention_chunks"}));
  EXPECT_EQ(chunk_launches_of(shape, mixed),
            (Names{"attention_chunks", "attention_splits", "attention_combine"}));
  const Names others{"attention_splits", "attention_combine", "attention"};
  EXPECT_EQ(chunk_launches_of(shape, none), others);
  EXPECT_EQ(chunk_launches_of(attention_shape(24, 4, 256, 64, DType::kF8E4M3), chunks), others);
  EXPECT_EQ(chunk_launches_of(attention_shape(24, 4, 128, 64, DType::kBF16), chunks), others);
  EXPECT_EQ(chunk_launches_of(attention_shape(24, 4, 256, 64, DType::kBF16, 512), chunks), others);
  EXPECT_EQ(chunk_launches_of(shape, chunks, {.cap = 30}), others);
  const float sink = 0;
  EXPECT_EQ(chunk_launches_of(shape, chunks, {.sinks = &sink}), others);
}

// A prompt's chunks with what is behind them, and a sequence that decodes.
TEST(AttentionChunkLaunches, AreOfAStepWithChunksOnHopperAlone) {
  const AttentionShape shape = attention_shape(6, 1, 256, 64, DType::kBF16);
  const DeviceArray<float> q(71 * 6 * 256, 1.0f), out(71 * 6 * 256, 0.0f);
  const DeviceArray<uint16_t> kv(4 * 64 * 256, uint16_t{0x3f00});
  const std::vector<int32_t> blocks{0, 1, 2};  // two of the first sequence
  const std::vector<Segment> segments{{0, 70, 0, 0, blocks.data(), 64}, {70, 1, 5, 1, blocks.data() + 2, 0}};
#if defined(LLMSERVICE_GPU_HOST)
  const std::vector<bool> hoppers{true, false};
#else
  const std::vector<bool> hoppers{runs_here()};
#endif
  for (const bool hopper : hoppers) {
#if defined(LLMSERVICE_GPU_HOST)
    if (hopper) gpu::emulated_device().major = 9;
#endif
    std::vector<std::string> names;
    gpu::GpuBackend backend({.graphs = 0, .on_list = [&](gpu::Device&, const gpu::LaunchList& list) {
                               for (const gpu::Launch& launch : list.launches())
                                 names.emplace_back(launch.name);
                             }});
#if defined(LLMSERVICE_GPU_HOST)
    gpu::emulated_device() = {};
#endif
    backend.reserve({.rows = 128,
                     .sequences = 4,
                     .longest = 128,
                     .block_size = 64,
                     .result = 71 * 6 * 256,
                     .attention = {shape}});
    backend.attention(shape, segments, q.data(), 6 * 256, {kv.data(), kv.data()}, out.data(), {});
    // All values are 0.5, and so is what any weights make of them.
    expect_close(backend.to_host(out.data(), 71 * 6 * 256), std::vector<float>(71 * 6 * 256, 0.5f), 5e-3f,
                 "half of one");
    const bool apart = hopper && gpu::kHasWgmma;
    const std::vector<std::string> expected{apart ? "attention_chunks" : "attention_splits",
                                            apart ? "attention_splits" : "attention_combine",
                                            apart ? "attention_combine" : "attention"};
    EXPECT_EQ(names, expected);
  }
}

}  // namespace
}  // namespace llmservice::testing
