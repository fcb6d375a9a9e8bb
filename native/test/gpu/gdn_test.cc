// Gated DeltaNet's kernels against the scalar reference, with decays that remember, prompts at the chunk
// borders, and the same bits however a sequence is cut, alone and among others.
#include "gdn_support.h"

namespace llmservice::testing {
namespace {

// Of the delta rule. The emulator rounds a matrix instruction's sums once, a device may cut them off.
constexpr float kTolerance = 2e-5f;
constexpr float kConvTolerance = 3e-6f;
void expect_same(const Layer::Result& actual, const Layer::Result& expected, const std::string& what) {
  expect_same_bits(actual.x, expected.x, what + ": after the convolution");
  expect_same_bits(actual.out, expected.out, what + ": out");
  expect_same_bits(actual.s, expected.s, what + ": S");
  expect_same_bits(actual.conv, expected.conv, what + ": conv tail");
}

void expect_near(const Layer::Result& actual, const Layer::Result& expected, const std::string& what) {
  expect_close(actual.x, expected.x, kConvTolerance, what + ": after the convolution");
  expect_close(actual.out, expected.out, kTolerance, what + ": out");
  expect_close(actual.s, expected.s, kTolerance, what + ": S");
  expect_same_bits(actual.conv, expected.conv, what + ": conv tail");
}

Segment whole(int32_t rows, int32_t chunked_until, int32_t slot = 1) {
  return {0, rows, 0, slot, nullptr, chunked_until};
}

class GdnPrompts : public ::testing::TestWithParam<int32_t> {};

TEST_P(GdnPrompts, BothFormsAreCloseToTheReference) {
  const int32_t rows = GetParam();
  const Layer layer({2, 2, 24, 40, 4}, rows);
  const auto expected = layer.expected({{whole(rows, 0)}});
  expect_near(layer.run({{whole(rows, 0)}}), expected, "recurrent");
  if (rows >= 64) expect_near(layer.run({{whole(rows, rows / 64 * 64)}}), expected, "in chunks");
}

INSTANTIATE_TEST_SUITE_P(Prompts, GdnPrompts, ::testing::Values(1, 2, 63, 64, 65, 129, 200));

// Of Qwen3.6-27B: heads of 128, three V heads to a K head, in either order.
TEST(Gdn, RunsTheHeadsOfRealModels) {
  const Layer layer({1, 3, 128, 128, 4}, 66);
  expect_near(layer.run({{whole(66, 64)}}, true), layer.expected({{whole(66, 64)}}, true), "grouped");
  const Layer tiled({2, 4, 32, 16, 4, true}, 66);
  expect_near(tiled.run({{whole(66, 64)}}), tiled.expected({{whole(66, 64)}}), "tiled");
}

TEST(Gdn, RunsOddShapes) {
  const std::vector<GdnShape> shapes = {{1, 1, 16, 80, 3}, {1, 2, 5, 7, 2}, {1, 1, 100, 136, 4}};
  for (const GdnShape& shape : shapes) {
    const Layer layer(shape, 66, 2, true);
    expect_near(layer.run({{whole(66, 64)}}), layer.expected({{whole(66, 64)}}), "odd shape");
  }
  const Layer real({1, 2, 128, 128, 4}, 66, 2, true);
  expect_near(real.run({{whole(66, 64)}}), real.expected({{whole(66, 64)}}), "rows off 16 bytes");
}

TEST(Gdn, RefusesWhatItCannotRun) {
  const gpu::StepSegments step{nullptr, 1, 1, 1};
  EXPECT_THROW(gpu::gdn({1, 1, 129, 8, 4}, step, 1, nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr, {},
                        nullptr, nullptr, {}),
               EngineError);
  EXPECT_THROW(gpu::gdn_conv({1, 1, 8, 8, 5}, step, 1, nullptr, nullptr, 0, {}, nullptr), EngineError);
}

TEST(Gdn, CutsOfASequenceNeverShow) {
  for (const GdnShape& shape : std::vector<GdnShape>{{1, 2, 24, 40, 4}, {1, 1, 128, 64, 4}}) {
    const Layer layer(shape, 200);
    const auto in_chunks = layer.run({{whole(200, 192)}});
    expect_same(layer.run(cut(200, 192, {64, 128, 193, 194, 195, 196})), in_chunks, "chunks and single rows");
  }
  const Layer layer({1, 1, 128, 128, 4}, 20);
  std::vector<int32_t> singles;
  for (int32_t i = 1; i < 20; ++i) singles.push_back(i);
  expect_same(layer.run(cut(20, 0, singles)), layer.run({{whole(20, 0)}}), "row by row");
}

TEST(Gdn, SegmentsOfOneStepDoNotTouchEachOther) {
  for (const GdnShape& shape : std::vector<GdnShape>{{1, 2, 24, 40, 4}, {1, 1, 128, 64, 4}}) {
    const Layer layer(shape, 375, 5);
    const std::vector<Segment> all = {{0, 1, 70, 2, nullptr, 64},
                                      {1, 100, 64, 0, nullptr, 128},
                                      {101, 64, 128, 3, nullptr, 320},
                                      {165, 8, 9, 1, nullptr, 0, 7},
                                      {173, 202, 0, 4, nullptr, 192}};
    Layer::Steps apart;
    for (const Segment& segment : all) apart.insert(apart.begin(), {segment});
    const auto together = layer.run({all}, true);
    expect_same(layer.run(apart, true), together, "together and apart");
    expect_near(together, layer.expected({all}, true), "together");
  }
}

// Drafts see the rows before them and leave no trace, and the rows that count run again from their inputs.
TEST(Gdn, DraftsLeaveStatesAsTheyWere) {
  const Layer layer({1, 2, 24, 40, 4}, 70);
  const auto counted = layer.run({{whole(70, 64)}});
  for (const int32_t drafts : {1, 4, 6}) {
    const int32_t kept = 70 - drafts;
    Segment segment = whole(70, 64);
    segment.drafts = drafts;
    const auto with_drafts = layer.run({{segment}});
    const auto without = layer.run({{whole(kept, 64)}});
    expect_same_bits(with_drafts.x, counted.x, "after the convolution");
    expect_same_bits(with_drafts.out, counted.out, "out");
    expect_same_bits(with_drafts.s, without.s, "S");
    expect_same_bits(with_drafts.conv, without.conv, "conv tail");
    // All of them turn out to count: the next step runs them again from their inputs.
    const auto replayed = layer.run({{whole(kept, 64)}, {{kept, drafts, kept, 1, nullptr, 64}}});
    expect_same_bits(replayed.s, counted.s, "S after a replay");
    expect_same_bits(replayed.conv, counted.conv, "conv tail after a replay");
  }
}

TEST(Gdn, DraftsAloneChangeNothing) {
  const Layer layer({1, 1, 128, 128, 4}, 3);
  Segment segment = whole(3, 0);
  segment.drafts = 3;
  const auto result = layer.run({{segment}});
  expect_same_bits(result.s, layer.s, "S");
  expect_same_bits(result.conv, layer.conv, "conv tail");
  EXPECT_FALSE(std::isnan(result.out[0]));
}

// Heads that forget a thousandth a step still hold what came thousands of positions before: errors add up
// there.
TEST(Gdn, BothFormsAgreeOverManyPositions) {
  const Layer layer({1, 1, 16, 16, 4}, 1088);
  const auto expected = layer.expected({{whole(1088, 0)}});
  for (const int32_t chunked_until : {0, 1088}) {
    const auto actual = layer.run({{whole(1088, chunked_until)}});
    expect_close(actual.s, expected.s, 5e-5f, "S");
    expect_close(actual.out, expected.out, 5e-5f, "out");
  }
}

TEST(Gdn, ResetsAndCopiesStates) {
  for (const GdnShape& shape : std::vector<GdnShape>{{2, 4, 24, 40, 4}, {1, 1, 5, 7, 2}}) {
    Layer layer(shape, 1, 5);
    const std::vector<int32_t> slots = {3, 0};
    const std::vector<StateCopy> copies = {{.from = 1, .to = 4}, {.from = 3, .to = 2}};
    const DeviceArray<float> conv(layer.conv), s(layer.s);
    const DeviceArray<int32_t> list(slots);
    const DeviceArray<StateCopy> pairs(copies);
    run(gpu::gdn_reset(shape, list.data(), 2, {conv.data(), s.data()}));
    run(gpu::gdn_copy(shape, pairs.data(), 2, {conv.data(), s.data()}));
    ReferenceBackend reference;
    reference.gdn_reset(shape, slots, {layer.conv.data(), layer.s.data()});
    reference.gdn_copy(shape, copies, {layer.conv.data(), layer.s.data()});
    expect_same_bits(conv.host(), layer.conv, "conv");
    expect_same_bits(s.host(), layer.s, "S");
  }
}

}  // namespace
}  // namespace llmservice::testing
