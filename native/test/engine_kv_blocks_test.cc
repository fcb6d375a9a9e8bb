// How many blocks fit what ranks have left, and what is said where those are too few.
#include <gtest/gtest.h>

#include <map>

#include "engine/kv_blocks.h"
#include "failures.h"

namespace llmservice::testing {
namespace {

constexpr int64_t kMiB = 1 << 20;

// 1000 MiB, of which 100 are kept free and 20 go to graphs; a block takes one.
KvDemand demand(int32_t planned = 500) {
  return {.most = 800,
          .block_size = 16,
          .max_length = 1600,
          .sequences = 8,
          .block_bytes = kMiB,
          .share = {.utilization_percent = 90,
                    .context_bytes = 30 * kMiB,
                    .graph_bytes = 20 * kMiB,
                    .planned_blocks = planned}};
}

RankRoom left(int64_t free, int64_t others = 0, int64_t device = 0) {
  return {.room = {.total = 1000 * kMiB,
                   .free = static_cast<uint64_t>(free * kMiB),
                   .own = static_cast<uint64_t>((1000 - free - others) * kMiB),
                   .device = device},
          .weight_bytes = 40 * kMiB};
}

int32_t fit(const KvDemand& demand, const std::vector<RankRoom>& ranks) {
  return blocks_that_fit(demand, ranks, "emulator");
}

struct Refusal {
  std::string reason;
  std::string message;
  std::map<std::string, int64_t> detail;
};

Refusal refusal(const KvDemand& demand, const std::vector<RankRoom>& ranks) {
  try {
    fit(demand, ranks);
  } catch (const EngineError& error) {
    return {name_of(error.reason()), error.what(), {error.detail().begin(), error.detail().end()}};
  }
  return {};
}

TEST(KvBlocks, TakeWhatIsLeftOfTheShareAndNoMoreThanIsOfUse) {
  EXPECT_EQ(fit(demand(), {left(620)}), 500);
  EXPECT_EQ(fit(demand(), {left(619, 50)}), 499);
  EXPECT_EQ(fit(demand(), {left(990)}), 800);
  KvDemand whole = demand();
  whole.share.utilization_percent = 100;
  EXPECT_EQ(fit(whole, {left(620)}), 600);
}

TEST(KvBlocks, AreThoseOfTheRankThatHasLeast) {
  EXPECT_EQ(fit(demand(), {left(700, 0, 0), left(560, 0, 1), left(650, 0, 2)}), 440);
  // Ranks on one device share what is left of it.
  EXPECT_EQ(fit(demand(200), {left(720), left(720)}), 300);
}

TEST(KvBlocks, NobodyAsksForKvThatNoLayerKeeps) {
  KvDemand none = demand();
  none.block_bytes = 0;
  EXPECT_EQ(fit(none, {left(0)}), 800);
}

TEST(KvBlocks, LessThanOneSequenceIsRefusedWithTheContextThatFits) {
  const auto [reason, message, detail] = refusal(demand(), {left(180, 20)});
  EXPECT_EQ(reason, "KvCacheTooSmall");
  EXPECT_TRUE(contains(message, "1000 MiB in all, 800 MiB taken by the engine (40 MiB of weights)"));
  EXPECT_TRUE(contains(message, "20 MiB by other processes and the driver, 180 MiB free"));
  EXPECT_TRUE(contains(message, "60 blocks of 16 tokens"));
  EXPECT_TRUE(contains(message, "500 were planned, and a sequence of 1600 tokens takes 100"));
  EXPECT_TRUE(contains(message, "engine.maxModelLen 112; engine.maxModelLen 960 with engine.maxNumSeqs 1"));
  EXPECT_EQ(detail, (std::map<std::string, int64_t>{{"totalBytes", 1000 * kMiB},
                                                    {"weightBytes", 40 * kMiB},
                                                    {"ownBytes", 800 * kMiB},
                                                    {"otherBytes", 20 * kMiB},
                                                    {"freeBytes", 180 * kMiB},
                                                    {"blocks", 60},
                                                    {"plannedBlocks", 500},
                                                    {"fits", 960}}));
}

TEST(KvBlocks, ClearlyLessThanWerePlannedIsRefused) {
  EXPECT_EQ(fit(demand(500), {left(495)}), 375);
  const auto [reason, message, detail] = refusal(demand(500), {left(494)});
  EXPECT_EQ(reason, "KvCacheTooSmall");
  EXPECT_TRUE(contains(message, "engine.maxNumSeqs 3; engine.maxModelLen 736"));
  EXPECT_EQ(detail.at("blocks"), 374);
}

TEST(KvBlocks, WithoutOneTheModelIsTooLarge) {
  EXPECT_EQ(refusal(demand(), {left(120)}).reason, "ModelTooLarge");
  EXPECT_EQ(refusal(demand(), {left(10)}).reason, "ModelTooLarge");
}

TEST(KvBlocks, WhatOthersHoldIsReportedWhereItIsWhatIsMissing) {
  // Without it: 500 blocks. 30 MiB of it may be the driver's for this process.
  const auto [reason, message, detail] = refusal(demand(), {left(300, 350)});
  EXPECT_EQ(reason, "DeviceMemoryTaken");
  EXPECT_TRUE(contains(message, "350 MiB by other processes and the driver"));
  EXPECT_TRUE(contains(message, "to end what else uses the device"));
  EXPECT_EQ(detail.at("otherBytes"), 350 * kMiB);
  EXPECT_EQ(refusal(demand(), {left(120, 30)}).reason, "ModelTooLarge");
  EXPECT_EQ(refusal(demand(), {left(180, 100)}).reason, "KvCacheTooSmall");
}

TEST(KvBlocks, TheRankThatHasLeastIsNamed) {
  const std::string message = refusal(demand(), {left(700, 0, 0), left(180, 0, 1)}).message;
  EXPECT_TRUE(contains(message, "the device of rank 1 (emulator)"));
}

}  // namespace
}  // namespace llmservice::testing
