// Which layers a stage has, and where the rows of a step are cut for stages to compute them at once.
#include <gtest/gtest.h>

#include "model/stage.h"
#include "model/step_parts.h"

namespace llmservice {
namespace {

TEST(Stages, DivideLayersInOrderAndTheFirstHaveFewer) {
  EXPECT_EQ(stage_layers(7, {0, 3}), (Range{0, 2}));
  EXPECT_EQ(stage_layers(7, {1, 3}), (Range{2, 2}));
  EXPECT_EQ(stage_layers(7, {2, 3}), (Range{4, 3}));
}

struct Rows {
  std::vector<int32_t> ids;
  std::vector<Segment> segments;
  std::vector<int32_t> outputs;
  std::vector<StateMark> saves;

  void add(int32_t slot, int32_t position, int32_t count, int32_t drafts = 0) {
    segments.push_back({.first = static_cast<int32_t>(ids.size()),
                        .count = count,
                        .position = position,
                        .slot = slot,
                        .blocks = nullptr,
                        .chunked_until = 0,
                        .drafts = drafts});
    ids.resize(ids.size() + count);
    outputs.push_back(static_cast<int32_t>(ids.size()) - 1);
  }
  std::vector<StepPart> parts(int32_t most) const {
    return step_parts(
        {.ids = ids, .positions = ids, .segments = segments, .outputs = outputs, .saves = saves}, most);
  }
};

TEST(StepParts, CutsAPromptWhereChunksMayEnd) {
  Rows rows;
  rows.add(0, 0, 3);
  rows.add(1, 32, 200);
  rows.saves = {{.slot = 1, .position = 128, .to = 5}, {.slot = 1, .position = 192, .to = 6}};
  const std::vector<StepPart> parts = rows.parts(2);
  ASSERT_EQ(parts.size(), 2U);
  // Row 101 is position 130, behind 128.
  EXPECT_EQ(parts[0].rows, 3 + 96);
  EXPECT_EQ(parts[1].rows, 104);
  EXPECT_EQ(parts[0].outputs, std::vector<int32_t>{2});
  EXPECT_EQ(parts[1].outputs, std::vector<int32_t>{103});
  EXPECT_EQ(parts[1].first_output, 1);
  ASSERT_EQ(parts[1].segments.size(), 1U);
  EXPECT_EQ(parts[1].segments[0].first, 0);
  EXPECT_EQ(parts[1].segments[0].position, 128);
  // The state of the first 128 tokens is that of the first part's end.
  ASSERT_EQ(parts[0].saves.size(), 1U);
  EXPECT_EQ(parts[0].saves[0].position, 128);
  ASSERT_EQ(parts[1].saves.size(), 1U);
  EXPECT_EQ(parts[1].saves[0].position, 192);
}

TEST(StepParts, KeepsFewRowsAndDraftsTogether) {
  Rows few;
  for (int32_t slot = 0; slot < 100; ++slot) few.add(slot, 70, 1);
  EXPECT_EQ(few.parts(2).size(), 1U);
  Rows drafts;
  for (int32_t slot = 0; slot < 32; ++slot) drafts.add(slot, 64, 5, 4);
  const std::vector<StepPart> parts = drafts.parts(2);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].rows % 5, 0);
}

TEST(StepParts, KeepsAStepWholeWhoseOutputsStandInAnotherOrder) {
  Rows rows;
  rows.add(0, 0, 100);
  rows.add(1, 0, 100);
  rows.outputs = {199, 99};
  const std::vector<StepPart> parts = rows.parts(2);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].outputs, rows.outputs);
}

}  // namespace
}  // namespace llmservice
