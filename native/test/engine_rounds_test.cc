// Where a step's rows are cut so that recurrent states can be kept.
#include <gtest/gtest.h>

#include <array>

#include "model/state_rounds.h"

namespace llmservice {
namespace {

Segment segment(int32_t slot, int32_t first, int32_t count, int32_t position) {
  return {.first = first,
          .count = count,
          .position = position,
          .slot = slot,
          .blocks = nullptr,
          .chunked_until = 1024};
}

// (slot, first, count, position) of every segment of a round.
using Cut = std::vector<std::array<int32_t, 4>>;
Cut cut_of(const StateRound& round) {
  Cut cut;
  for (const Segment& s : round.segments) cut.push_back({s.slot, s.first, s.count, s.position});
  return cut;
}

TEST(StateRounds, WithoutSavesIsOneRoundOfAll) {
  const std::vector<Segment> segments{segment(3, 0, 1, 700), segment(1, 1, 130, 64)};
  const auto rounds = state_rounds(segments, {});
  ASSERT_EQ(rounds.size(), 1U);
  EXPECT_EQ(cut_of(rounds[0]), (Cut{{3, 0, 1, 700}, {1, 1, 130, 64}}));
  EXPECT_TRUE(rounds[0].copies.empty());
}

TEST(StateRounds, CutEachSlotAtItsMarks) {
  const std::vector<Segment> segments{segment(3, 0, 1, 700), segment(1, 1, 202, 64), segment(0, 203, 128, 0)};
  const std::vector<StateMark> saves{{1, 128, 10}, {0, 128, 12}, {1, 256, 11}};
  const auto rounds = state_rounds(segments, saves);
  ASSERT_EQ(rounds.size(), 3U);
  EXPECT_EQ(cut_of(rounds[0]), (Cut{{3, 0, 1, 700}, {1, 1, 64, 64}, {0, 203, 128, 0}}));
  EXPECT_EQ(cut_of(rounds[1]), (Cut{{1, 65, 128, 128}}));
  EXPECT_EQ(cut_of(rounds[2]), (Cut{{1, 193, 10, 256}}));
  ASSERT_EQ(rounds[0].copies.size(), 2U);
  EXPECT_EQ(rounds[0].copies[0].from, 1);
  EXPECT_EQ(rounds[0].copies[0].to, 10);
  EXPECT_EQ(rounds[0].copies[1].to, 12);
  ASSERT_EQ(rounds[1].copies.size(), 1U);
  EXPECT_EQ(rounds[1].copies[0].to, 11);
  EXPECT_TRUE(rounds[2].copies.empty());
}

}  // namespace
}  // namespace llmservice
