// Rows of a plan made ahead, which asks for as many drafts as a slot may come to hold.
#include <gtest/gtest.h>

#include "engine/slots.h"
#include "failures.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

// How many of `planned` rows are left to a sequence that holds `held` drafts, with 15 known tokens of which
// one is to compute, in blocks of 16 of which the plan appends `appended`.
int32_t rows_left_ahead(int32_t held, int32_t planned, int32_t appended) {
  SlotTable slots({.slots = 1,
                   .num_blocks = 4,
                   .snapshots = 0,
                   .block_size = 16,
                   .max_length = 64,
                   .max_tokens = 64,
                   .vocab = 100,
                   .hybrid = false,
                   .drafts = 5});
  const Admission begun{.slot = 0,
                        .tokens = std::vector<int32_t>(15, 3),
                        .prompt_length = 15,
                        .max_length = 60,
                        .stop_tokens = {},
                        .sampling = {}};
  slots.apply({.release = {}, .admit = {begun}, .blocks = {{0, 0}}, .rows = {}});
  slots.advance(0, 14);
  slots.at(0).drafts.assign(held, 7);
  StepPlan plan{.release = {}, .admit = {}, .blocks = {}, .rows = {{0, planned}}};
  for (int32_t i = 0; i < appended; ++i) plan.blocks.push_back({0, 1 + i});
  plan.ahead = true;
  const StepPlan left = slots.without_ended(plan);
  EXPECT_EQ(failure_of([&] { slots.check(left); }), planned > 6 ? "EngineFault" : "");
  return left.rows[0].count;
}

TEST(RowsPlannedAhead, AreOfTheDraftsThatThereAre) {
  EXPECT_EQ(rows_left_ahead(3, 6, 1), 4);
  EXPECT_EQ(rows_left_ahead(0, 6, 1), 1);
  EXPECT_EQ(rows_left_ahead(5, 3, 1), 3);
  EXPECT_EQ(rows_left_ahead(5, 6, 0), 2);  // one draft has its place in the first block
  EXPECT_EQ(rows_left_ahead(5, 7, 1), 7);  // more than it can ever hold
}

}  // namespace
}  // namespace llmservice
