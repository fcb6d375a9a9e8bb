// Attention on the device: close to the scalar reference over the same cache, and each position's bits the
// same whether it came in a prefill, in a chunk of one, among drafts or alone.
#include "attention_support.h"

namespace llmservice::testing {
namespace {

// q and the weights of a softmax are rounded to bf16, 2^-9 of each: with scores of the order of one that is
// up to some 2^-9 of values of the order of one, and twice that where few positions count.
constexpr float kTolerance = 5e-3f;

struct Case {
  AttentionShape shape;
  int32_t tokens;
  float cap = 0;
  bool sinks = false;
};

class GpuAttentionTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    sequence.cap = GetParam().cap;
    // Some as large as any score, some larger than all.
    for (int32_t h = 0; h < shape.heads && GetParam().sinks; ++h) sequence.sinks.push_back(2.0f * h - 1);
  }

  const AttentionShape shape = GetParam().shape;
  const int32_t tokens = GetParam().tokens;
  PagedSequence sequence{shape, tokens};
  const std::vector<Piece> whole = {{shape.first, tokens - shape.first}};
};

TEST_P(GpuAttentionTest, IsCloseToTheReference) {
  sequence.write();
  const std::vector<float> out = sequence.attend(whole), expected = sequence.reference(whole);
  for (int32_t p = shape.first; p < tokens; ++p) {
    expect_close(sequence.row(out, p), sequence.row(expected, p), kTolerance, "row " + std::to_string(p));
  }
}

TEST_P(GpuAttentionTest, GivesAPositionTheSameBitsHoweverItIsCut) {
  sequence.write();
  const std::vector<float> together = sequence.attend(whole);
  std::vector<Piece> pieces;
  constexpr int32_t kCounts[] = {1, 37, 8, 3, 9, 64, 2, 70, 5};
  for (int32_t at = shape.first, i = 0; at < tokens; at += pieces.back().count, ++i) {
    pieces.push_back({at, std::min(kCounts[i % 9], tokens - at)});
  }
  const std::vector<float> cut = sequence.attend(pieces);
  for (int32_t p = shape.first; p < tokens; ++p) {
    expect_same_bits(sequence.row(cut, p), sequence.row(together, p), "cut, row " + std::to_string(p));
  }
  for (const int32_t p : {std::min(63, tokens - 1), tokens - 1}) {
    expect_same_bits(sequence.row(sequence.attend({{p, 1}}), p), sequence.row(together, p),
                     "alone, row " + std::to_string(p));
  }
}

using GpuAttentionFaultTest = GpuAttentionTest;

TEST_P(GpuAttentionFaultTest, LeavesEarlierPositionsAsTheyAreWhereALaterOneIsNotFinite) {
  sequence.write();
  const std::vector<Piece> end = {{std::max(shape.first, tokens - 20), std::min(20, tokens - shape.first)}};
  const std::vector<float> expected = sequence.attend(end);
  const int32_t bad = tokens - std::min(7, tokens - shape.first);
  sequence.v[bad * sequence.kv_width() + 1] = NAN;
  sequence.write();
  const std::vector<float> out = sequence.attend(end);
  EXPECT_TRUE(std::isnan(out[bad * sequence.q_width() + 1]));
  for (int32_t p = end[0].position; p < bad; ++p) {
    expect_same_bits(sequence.row(out, p), sequence.row(expected, p), "row " + std::to_string(p));
  }
}

std::string name(const ::testing::TestParamInfo<Case>& info) {
  const AttentionShape& s = info.param.shape;
  return std::string(name_of(s.kv_dtype)) + "_" + std::to_string(s.heads) + "_heads_of_" +
         std::to_string(s.head_dim) + "_over_" + std::to_string(info.param.tokens) +
         (s.window > 0 ? "_window_" + std::to_string(s.window) : "") +
         (s.first > 0 ? "_from_" + std::to_string(s.first) : "") + (info.param.cap > 0 ? "_capped" : "") +
         (info.param.sinks ? "_with_sinks" : "");
}

INSTANTIATE_TEST_SUITE_P(Shapes, GpuAttentionTest,
                         ::testing::Values(Case{attention_shape(4, 2, 64, 16, DType::kBF16), 100},
                                           Case{attention_shape(6, 1, 256, 64, DType::kBF16), 22},
                                           Case{attention_shape(6, 1, 256, 64, DType::kF8E4M3), 33},
                                           Case{attention_shape(1, 1, 128, 32, DType::kBF16), 258},
                                           Case{attention_shape(8, 1, 128, 192, DType::kF8E4M3), 40},
                                           Case{attention_shape(3, 3, 80, 8, DType::kBF16), 66},
                                           Case{attention_shape(8, 1, 512, 16, DType::kBF16), 37},
                                           Case{attention_shape(1, 1, 512, 64, DType::kF8E4M3, 20), 270},
                                           Case{attention_shape(2, 1, 272, 16, DType::kBF16), 20},
                                           Case{attention_shape(1, 1, 16, 16, DType::kF8E4M3), 260},
                                           Case{attention_shape(2, 2, 16, 16, DType::kBF16), 1},
                                           Case{attention_shape(4, 1, 16, 16, DType::kBF16, 40), 150},
                                           Case{attention_shape(2, 1, 48, 16, DType::kF8E4M3, 1), 70},
                                           Case{attention_shape(1, 1, 32, 64, DType::kBF16, 270), 530},
                                           Case{attention_shape(2, 1, 32, 64, DType::kBF16, 0, 1), 70},
                                           Case{attention_shape(4, 2, 32, 16, DType::kBF16), 100, 1.5f},
                                           Case{attention_shape(2, 1, 64, 16, DType::kF8E4M3, 40), 90, 0.7f},
                                           Case{attention_shape(8, 1, 64, 16, DType::kBF16), 70, 0, true},
                                           Case{attention_shape(2, 1, 16, 16, DType::kBF16), 300, 2, true},
                                           Case{attention_shape(4, 2, 16, 16, DType::kF8E4M3, 20), 80, 0,
                                                true}),
                         name);
INSTANTIATE_TEST_SUITE_P(Shapes, GpuAttentionFaultTest,
                         ::testing::Values(Case{attention_shape(4, 2, 64, 16, DType::kBF16), 130},
                                           Case{attention_shape(2, 1, 128, 16, DType::kF8E4M3), 70},
                                           Case{attention_shape(2, 1, 16, 16, DType::kBF16, 10), 80}),
                         name);

// Encoders: a row sees the whole segment, and what lies before it; or as far to both sides as a window goes.
TEST(GpuAttention, SeesToTheEndOfTheSegmentWhereItIsNotCausal) {
  for (const AttentionShape& shape :
       {attention_shape(4, 2, 64, 16, DType::kBF16), attention_shape(2, 1, 16, 16, DType::kF8E4M3),
        attention_shape(4, 2, 64, 16, DType::kBF16, 17), attention_shape(6, 1, 16, 16, DType::kF8E4M3, 1),
        attention_shape(2, 1, 16, 16, DType::kBF16, 70)}) {
    PagedSequence sequence(shape, 270);
    sequence.causal = false;
    sequence.write();
    // Direct; in one split and in two; a row tile of several.
    for (const Piece piece : {Piece{0, 70}, Piece{0, 8}, Piece{250, 8}, Piece{200, 70}, Piece{269, 1}}) {
      const std::vector<float> out = sequence.attend({piece}), expected = sequence.reference({piece});
      for (int32_t p = piece.position; p < piece.position + piece.count; ++p) {
        expect_close(sequence.row(out, p), sequence.row(expected, p), kTolerance, "row " + std::to_string(p));
      }
    }
    // Others beside it change nothing.
    const std::vector<float> alone = sequence.attend({{100, 5}}),
                             beside = sequence.attend({{0, 70}, {100, 5}, {200, 3}});
    for (int32_t p = 100; p < 105; ++p) {
      expect_same_bits(sequence.row(beside, p), sequence.row(alone, p), "row " + std::to_string(p));
    }
  }
}

// Splits of all three lengths.
TEST(GpuAttention, ReachesFarBack) {
  constexpr int32_t kTokens = 33'100;
  PagedSequence sequence(attention_shape(1, 1, 16, 64, DType::kBF16), kTokens);
  // One position far back matters more than all others.
  for (int32_t d = 0; d < 16; ++d) {
    sequence.k[9'000 * 16 + d] = 4 * sequence.q[(kTokens - 2) * 16 + d];
    sequence.v[9'000 * 16 + d] = static_cast<float>(d);
  }
  sequence.write();
  const std::vector<Piece> end = {{kTokens - 9, 9}}, alone = {{kTokens - 2, 1}};
  const std::vector<float> together = sequence.attend(end);
  const auto row = sequence.row(together, kTokens - 2);
  expect_same_bits(sequence.row(sequence.attend(alone), kTokens - 2), row, "alone");
  expect_close(row, sequence.row(sequence.reference(alone), kTokens - 2), kTolerance, "reference");
  EXPECT_GT(row[15], 10.0f);
}

TEST(GpuAttention, SegmentsTakeTurnsWhereTheirSplitsDoNotFitAtOnce) {
  const AttentionShape shape = attention_shape(24, 4, 256, 64, DType::kBF16);
  const gpu::StepSegments step{nullptr, 256, 4, 131'072};
  EXPECT_LE(gpu::attention_workspace(shape, 1024, step.longest) * int64_t{sizeof(float)}, 256 << 20);
  uint32_t segments = 0;
  for (const gpu::Launch& launch : gpu::attention(shape, step, nullptr, 0, {}, nullptr, nullptr)) {
    if (launch.name == std::string("attention_splits")) segments += launch.grid.z;
  }
  EXPECT_EQ(segments, 256u);
}

}  // namespace
}  // namespace llmservice::testing
