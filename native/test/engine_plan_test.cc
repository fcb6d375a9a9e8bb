// Every rule of a step plan has a plan that breaks it: refused by name, and nothing changes.
#include <gtest/gtest.h>

#include <cmath>

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

// Slot 0 holds 5 tokens and blocks 0 and 1; slot 1 holds 200 tokens and blocks 2 to 14, of which 128 tokens
// are computed and their state is in snapshot 0; slots 2 and 3 are free.
SlotTable table() {
  SlotTable slots({.slots = 4,
                   .num_blocks = 24,
                   .snapshots = 2,
                   .block_size = 16,
                   .max_length = 240,
                   .max_tokens = 140,
                   .vocab = 100,
                   .hybrid = true});
  StepPlan plan{
      .release = {}, .admit = {admission(0), admission(1, 200)}, .blocks = {{0, 0}, {0, 1}}, .rows = {}};
  for (int32_t block = 2; block < 15; ++block) plan.blocks.push_back({1, block});
  plan.rows = {{1, 128}};
  plan.saves = {{1, 128, 0}};
  slots.check(plan);
  slots.apply(plan);
  slots.advance(1, 128);
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
// 200 tokens of which 128 are those of slot 1.
Admission cached_admission() {
  Admission a = admission(2, 200);
  a.cached_tokens = 128;
  a.snapshot = 0;
  return a;
}
// Such an admission beside the first `shared` blocks of slot 1 and `own` further ones.
StepPlan sharing(
    int32_t shared, int32_t own, void (*change)(Admission&) = [](Admission&) {}) {
  StepPlan plan{.release = {}, .admit = {cached_admission()}, .blocks = {}, .rows = {}};
  change(plan.admit[0]);
  for (int32_t i = 0; i < shared; ++i) plan.blocks.push_back({2, 2 + i});
  for (int32_t i = 0; i < own; ++i) plan.blocks.push_back({2, 15 + i});
  return plan;
}
StepPlan with_rows(StepPlan plan, std::vector<RowEntry> list) {
  plan.rows = std::move(list);
  return plan;
}
StepPlan replacing(std::vector<Replacement> list) {
  return {.release = {}, .admit = {}, .blocks = {}, .rows = {}, .replace = std::move(list)};
}
StepPlan saving(std::vector<RowEntry> list, std::vector<StateSave> saves) {
  return {.release = {},
          .admit = {},
          .blocks = {},
          .rows = std::move(list),
          .replace = {},
          .saves = std::move(saves)};
}
std::vector<SlotBlock> table_blocks(int32_t slot) {
  std::vector<SlotBlock> list;
  for (int32_t block = 2; block < 15; ++block) list.push_back({slot, block});
  return list;
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
        PlanCase{"admit_full", admitting([](Admission& a) { a.max_length = 5; }), ""},
        PlanCase{"admit_overfull", admitting([](Admission& a) { a.max_length = 4; }), "maxLength"},
        PlanCase{"admit_long", admitting([](Admission& a) { a.max_length = 241; }), "maxModelLen (240)"},
        PlanCase{"admit_token", admitting([](Admission& a) { a.tokens[1] = 100; }), "vocabulary of 100"},
        PlanCase{"admit_temperature", admitting([](Admission& a) { a.sampling.temperature = -1; }),
                 "temperature"},
        PlanCase{"admit_top_p", admitting([](Admission& a) { a.sampling.top_p = 0; }), "topP"},
        PlanCase{"admit_top_logprobs", admitting([](Admission& a) { a.sampling.top_logprobs = 21; }),
                 "topLogprobs"},
        PlanCase{"admit_typical_p", admitting([](Admission& a) { a.sampling.typical_p = 0; }), "typicalP"},
        PlanCase{"rule_bias", admitting([](Admission& a) {
                   a.rules = {.biased = {3, 4}, .biases = {1}};
                 }),
                 "one finite value for each"},
        PlanCase{"rule_bias_infinite",
                 admitting([](Admission& a) { a.rules = {.biased = {3}, .biases = {INFINITY}}; }),
                 "one finite value for each"},
        PlanCase{"rule_outside", admitting([](Admission& a) {
                   a.rules.allowed = {3, 100};
                 }),
                 "outside the vocabulary"},
        PlanCase{"rule_unordered", admitting([](Admission& a) {
                   a.rules.allowed = {3, 3};
                 }),
                 "do not ascend"},
        PlanCase{"rule_uncut", admitting([](Admission& a) {
                   a.rules.banned = {1, 2};
                   a.rules.banned_ends = {1};
                 }),
                 "cut the banned tokens"},
        PlanCase{"rule_empty", admitting([](Admission& a) {
                   a.rules.banned = {1};
                   a.rules.banned_ends = {0, 1};
                 }),
                 "cut the banned tokens"},
        PlanCase{"rule_min_tokens", admitting([](Admission& a) { a.rules.min_tokens = -1; }), "minTokens"},
        PlanCase{"rule_reported_outside", admitting([](Admission& a) {
                   a.sampling.top_logprobs = 0;
                   a.rules.reported = {100};
                 }),
                 "outside the vocabulary"},
        PlanCase{"rule_reported_many", admitting([](Admission& a) {
                   a.sampling.top_logprobs = 0;
                   a.rules.reported.assign(129, 3);
                 }),
                 "more than 128 reported"},
        PlanCase{"rule_reported_alone", admitting([](Admission& a) { a.rules.reported = {3}; }),
                 "reported tokens without topLogprobs"},
        PlanCase{"rule_good", admitting([](Admission& a) {
                   a.rules = {.biased = {4, 3},
                              .biases = {1, 2},
                              .allowed = {0, 99},
                              .banned = {1, 2},
                              .banned_ends = {2},
                              .min_tokens = 3};
                 }),
                 ""},
        PlanCase{"admit_prompt_logprobs", admitting([](Admission& a) { a.prompt_logprobs = true; }),
                 "without topLogprobs"},
        PlanCase{"block_outside", blocks({{0, 24}}), "outside 0 to 23"},
        PlanCase{"block_taken", blocks({{0, 2}}), "block 2 to be written, which another"},
        PlanCase{"block_twice", blocks({{0, 15}, {1, 15}}), "block 15 to be written, which another"},
        PlanCase{"block_freed", {{1}, {}, {{0, 2}}, {}}, ""},
        PlanCase{"block_nobody", blocks({{2, 15}}), "no sequence"},
        PlanCase{"shared_good", with_rows(sharing(8, 5), {{2, 72}}), ""},
        PlanCase{"shared_released", {{1}, {cached_admission()}, sharing(8, 5).blocks, {{2, 64}}}, ""},
        PlanCase{"shared_unfinished", {{}, {cached_admission()}, {{2, 10}}, {}}, "block 10, whose tokens"},
        PlanCase{"shared_rewritten",
                 {{1}, {admission(3), cached_admission()}, {{3, 2}, {2, 2}}, {}},
                 "block 2, whose tokens"},
        PlanCase{"shared_too_few", with_rows(sharing(7, 0), {{2, 72}}), "blocks of the sequence (7)"},
        PlanCase{"cached_odd", sharing(0, 0, [](Admission& a) { a.cached_tokens = 120; }), "whole blocks"},
        PlanCase{"cached_all",
                 sharing(0, 0, [](Admission& a) { a.tokens.resize(128), a.prompt_length = 128; }),
                 "no token to compute"},
        PlanCase{"cached_stateless", sharing(0, 0, [](Admission& a) { a.snapshot.reset(); }),
                 "must have a snapshot"},
        PlanCase{"cached_not_64", sharing(0, 0, [](Admission& a) { a.cached_tokens = 112; }),
                 "multiple of 64"},
        PlanCase{"cached_generated", sharing(0, 0, [](Admission& a) { a.prompt_length = 127; }),
                 "within the prompt"},
        PlanCase{"cached_elsewhere", sharing(0, 0, [](Admission& a) { a.cached_tokens = 64; }),
                 "snapshot is of 128 tokens"},
        PlanCase{"cached_outside", sharing(0, 0, [](Admission& a) { a.snapshot = 2; }), "there are 2"},
        PlanCase{"snapshot_alone", sharing(0, 0, [](Admission& a) { a.cached_tokens = 0; }), "only there"},
        PlanCase{"cached_scored",
                 sharing(0, 0,
                         [](Admission& a) {
                           a.prompt_logprobs = true;
                           a.sampling.top_logprobs = 1;
                         }),
                 "have no logits"},
        PlanCase{"replace_good", replacing({{1, 0, 3}}), ""},
        PlanCase{"replace_written", replacing({{1, 8, 3}}), "not computed yet"},
        PlanCase{"replace_unfinished", replacing({{1, 0, 10}}), "whose tokens are not all"},
        PlanCase{"replace_twice", replacing({{1, 0, 3}, {1, 0, 4}}), "same block twice"},
        PlanCase{"replace_frees", {{}, {}, {{0, 2}}, {}, {{1, 0, 3}}}, ""},
        PlanCase{"save_good", saving({{1, 64}}, {{1, 192, 0}}), ""},
        PlanCase{"save_behind", saving({{1, 64}}, {{1, 128, 1}}), "no row of this step"},
        PlanCase{"save_ahead", saving({{0, 5}}, {{1, 192, 1}}), "no row of this step"},
        PlanCase{"save_odd", saving({{1, 72}}, {{1, 144, 1}}), "multiples of 64"},
        PlanCase{"save_unordered",
                 {{1}, {admission(1, 200)}, table_blocks(1), {{1, 128}}, {}, {{1, 128, 0}, {1, 64, 1}}},
                 "no row of this step"},
        PlanCase{"save_twice", saving({{1, 64}}, {{1, 192, 1}, {1, 192, 1}}), "another entry writes"},
        PlanCase{"save_outside", saving({{1, 64}}, {{1, 192, 2}}), "there are 2"},
        PlanCase{"rows_good", rows({{0, 5}, {1, 64}}), ""},
        PlanCase{"rows_twice", rows({{0, 1}, {0, 1}}), "twice"},
        PlanCase{"rows_zero", rows({{0, 0}}), "count below 1"},
        PlanCase{"rows_beyond", rows({{0, 6}}), "known tokens"},
        PlanCase{"rows_blocks", {{}, {admission(2)}, {}, {{2, 5}}}, "blocks of the sequence (0)"},
        PlanCase{"rows_budget", rows({{0, 5}, {1, 60}}), "multiple of 64"},
        PlanCase{"rows_total", with_rows(sharing(8, 5), {{0, 5}, {1, 72}, {2, 72}}),
                 "maxNumBatchedTokens (140)"},
        PlanCase{"rows_chunk", rows({{1, 10}}), "multiple of 64"}),
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

// Slot 2 has ended; slot 1 continues.
SlotTable table_with_an_end() {
  SlotTable slots = table();
  Admission a = admission(2);
  a.stop_tokens = {42};
  slots.apply({.release = {}, .admit = {a}, .blocks = {{2, 15}}, .rows = {}});
  slots.advance(2, 5);
  EXPECT_EQ(slots.append(2, 42), Finish::kStop);
  return slots;
}

TEST(PlansMadeAhead, LoseRowsAndSavesOfSequencesThatEnded) {
  const SlotTable slots = table_with_an_end();
  StepPlan plan = saving({{2, 1}, {1, 64}}, {{1, 192, 0}, {2, 64, 1}});
  plan.blocks = {{2, 16}};
  plan.ahead = true;
  const StepPlan left = slots.without_ended(plan);
  EXPECT_EQ(failure_of([&] { slots.check(left); }), "");
  ASSERT_EQ(left.rows.size(), 1U);
  EXPECT_EQ(left.rows[0].slot, 1);
  ASSERT_EQ(left.saves.size(), 1U);
  EXPECT_EQ(left.saves[0].slot, 1);
  EXPECT_EQ(left.blocks.size(), 1U);  // the next plan's maker counts on it
  EXPECT_FALSE(left.ahead);
}

TEST(PlansMadeAhead, KeepRowsOfWhoeverTakesTheSlotOfOneThatEnded) {
  const SlotTable slots = table_with_an_end();
  StepPlan plan{{2}, {admission(2)}, {{2, 15}}, {{2, 5}}};
  plan.ahead = true;
  EXPECT_EQ(slots.without_ended(plan).rows.size(), 1U);
}

TEST(PlansMadeAhead, KeepEveryOtherRule) {
  const SlotTable slots = table_with_an_end();
  for (StepPlan plan : {rows({{3, 1}}), rows({{4, 1}}), rows({{-1, 1}}), rows({{0, 9}})}) {
    plan.ahead = true;
    EXPECT_EQ(failure_of([&] { slots.check(slots.without_ended(plan)); }), "EngineFault");
  }
}

}  // namespace
}  // namespace llmservice
