// Every rule of a step plan has a plan that breaks it: refused by name, and nothing changes.
#include <gtest/gtest.h>

#include "engine/slots.h"
#include "failures.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

Admission admission(int32_t slot, int32_t tokens = 5) {
  return {.slot = slot,
          .tokens = std::vector<int32_t>(tokens, 3),
          .prompt_length = tokens,
          .max_length = tokens + 10,
          .stop_tokens = {},
          .sampling = {}};
}

// Slot 0 holds 5 tokens and blocks 0 and 1; slot 1 holds 200 tokens and blocks 2 to 14; slots 2 and 3 are
// free.
SlotTable table() {
  SlotTable slots({.slots = 4,
                   .num_blocks = 16,
                   .block_size = 16,
                   .max_length = 240,
                   .max_tokens = 150,
                   .vocab = 100,
                   .hybrid = true});
  StepPlan plan{
      .release = {}, .admit = {admission(0), admission(1, 200)}, .blocks = {{0, 0}, {0, 1}}, .rows = {}};
  for (int32_t block = 2; block < 15; ++block) plan.blocks.push_back({1, block});
  slots.check(plan);
  slots.apply(plan);
  return slots;
}

struct PlanCase {
  const char* name;
  StepPlan plan;
  const char* says;  // "" when the plan is good
};

StepPlan admitting(void (*change)(Admission&)) {
  Admission a = admission(2);
  change(a);
  return {.release = {}, .admit = {a}, .blocks = {}, .rows = {}};
}
StepPlan blocks(std::vector<SlotBlock> list) { return {{}, {}, std::move(list), {}}; }
StepPlan rows(std::vector<RowEntry> list) { return {{}, {}, {}, std::move(list)}; }

class PlanRules : public ::testing::TestWithParam<PlanCase> {};

TEST_P(PlanRules, AreNamedWhenBroken) {
  const SlotTable slots = table();
  std::string message;
  const std::string reason = failure_of([&] { slots.check(GetParam().plan); }, &message);
  if (*GetParam().says == '\0') {
    EXPECT_EQ(reason, "") << message;
  } else {
    EXPECT_EQ(reason, "EngineFault");
    EXPECT_TRUE(contains(message, GetParam().says));
    EXPECT_TRUE(contains(message, "Nothing was computed"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, PlanRules,
    ::testing::Values(
        PlanCase{"empty", {}, ""},
        PlanCase{"release_free", {{2}, {}, {}, {}}, "release[0] (slot 2) names a slot that"},
        PlanCase{"release_twice", {{0, 0}, {}, {}, {}}, "release[1]"},
        PlanCase{"release_outside", {{4}, {}, {}, {}}, "outside 0 to 3"},
        PlanCase{"release_then_admit", {{0}, {admission(0)}, {{0, 0}}, {{0, 5}}}, ""},
        PlanCase{"admit_taken", {{}, {admission(0)}, {}, {}}, "already holds a sequence"},
        PlanCase{"admit_twice", {{}, {admission(2), admission(2)}, {}, {}}, "admit[1] (slot 2)"},
        PlanCase{"admit_empty", admitting([](Admission& a) { a.tokens.clear(); }), "has no tokens"},
        PlanCase{"admit_prompt", admitting([](Admission& a) { a.prompt_length = 6; }), "promptLength"},
        PlanCase{"admit_full", admitting([](Admission& a) { a.max_length = 5; }), "maxLength"},
        PlanCase{"admit_long", admitting([](Admission& a) { a.max_length = 241; }), "maxModelLen (240)"},
        PlanCase{"admit_token", admitting([](Admission& a) { a.tokens[1] = 100; }), "vocabulary of 100"},
        PlanCase{"admit_temperature", admitting([](Admission& a) { a.sampling.temperature = -1; }),
                 "temperature"},
        PlanCase{"admit_top_p", admitting([](Admission& a) { a.sampling.top_p = 0; }), "topP"},
        PlanCase{"admit_top_logprobs", admitting([](Admission& a) { a.sampling.top_logprobs = 21; }),
                 "topLogprobs"},
        PlanCase{"admit_prompt_logprobs", admitting([](Admission& a) { a.prompt_logprobs = true; }),
                 "without topLogprobs"},
        PlanCase{"block_outside", blocks({{0, 16}}), "outside 0 to 15"},
        PlanCase{"block_taken", blocks({{0, 2}}), "block 2, which another"},
        PlanCase{"block_twice", blocks({{0, 15}, {1, 15}}), "block 15 twice"},
        PlanCase{"block_freed", {{1}, {}, {{0, 2}}, {}}, ""},
        PlanCase{"block_nobody", blocks({{2, 15}}), "no sequence"},
        PlanCase{"rows_good", rows({{0, 5}, {1, 64}}), ""},
        PlanCase{"rows_twice", rows({{0, 1}, {0, 1}}), "twice"},
        PlanCase{"rows_zero", rows({{0, 0}}), "count below 1"},
        PlanCase{"rows_beyond", rows({{0, 6}}), "known tokens"},
        PlanCase{"rows_blocks", {{}, {admission(2)}, {}, {{2, 5}}}, "blocks of the sequence (0)"},
        PlanCase{"rows_budget", rows({{0, 5}, {1, 148}}), "multiple of 64"},
        PlanCase{"rows_total", rows({{0, 5}, {1, 192}}), "maxNumBatchedTokens (150)"},
        PlanCase{"rows_chunk", rows({{1, 100}}), "multiple of 64"}),
    [](const auto& info) { return info.param.name; });

TEST(Slots, EndWithStopTokenOrLength) {
  SlotTable slots = table();
  Admission a = admission(2);
  a.max_length = 8;
  a.stop_tokens = {42, 43};
  slots.apply({.release = {}, .admit = {a}, .blocks = {}, .rows = {}});
  EXPECT_EQ(slots.append(2, 7), Finish::kNone);
  EXPECT_EQ(slots.append(2, 8), Finish::kNone);
  EXPECT_EQ(slots.append(2, 9), Finish::kLength);
  EXPECT_EQ(slots.append(0, 42), Finish::kNone);
  std::string message;
  EXPECT_EQ(failure_of([&] { slots.check(rows({{2, 1}})); }, &message), "EngineFault");
  EXPECT_TRUE(contains(message, "has ended"));
  slots.apply({.release = {2}, .admit = {a}, .blocks = {}, .rows = {}});
  EXPECT_EQ(slots.append(2, 43), Finish::kStop);
}

}  // namespace
}  // namespace llmservice
