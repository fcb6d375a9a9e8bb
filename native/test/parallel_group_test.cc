// The shared-memory group: what ranks exchange, in threads and in processes, and how a lost rank is noticed.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <chrono>
#include <cstring>

#include "failures.h"
#include "model/draft_files.h"
#include "model/shard.h"
#include "parallel_support.h"
#include "tiny_checkpoint.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Values whose sum depends on the order in which they are added.
float share_of(int32_t rank, int64_t i) {
  return (rank % 2 == 0 ? 1.0F : -1.0F) * (1.0F + static_cast<float>(i % 97)) * (rank == 1 ? 1e7F : 0.1F);
}

std::vector<float> shares(int32_t rank, int64_t count) {
  std::vector<float> x(count);
  for (int64_t i = 0; i < count; ++i) x[i] = share_of(rank, i);
  return x;
}

std::vector<float> sum_in_rank_order(int32_t ranks, int64_t count) {
  std::vector<float> sum = shares(0, count);
  for (int32_t rank = 1; rank < ranks; ++rank) {
    for (int64_t i = 0; i < count; ++i) sum[i] += share_of(rank, i);
  }
  return sum;
}

// One value, what each rank adds up for itself, what they share the work of, more than an area, several
// areas.
constexpr int64_t kCounts[] = {1, 1000, 16383, 20001, (1 << 18) + 3, 3 * (1 << 18)};

class Ranks : public ::testing::TestWithParam<int32_t> {};

TEST_P(Ranks, AddUpInRankOrder) {
  for (const int64_t count : kCounts) {
    const auto expected = sum_in_rank_order(GetParam(), count);
    on_threads(GetParam(), [&](RankGroup& group) {
      std::vector<float> x = shares(group.rank(), count);
      group.all_reduce(x.data(), count);
      EXPECT_TRUE(x == expected) << count << " values on rank " << group.rank();
    });
  }
}

TEST_P(Ranks, AddUpOverAndOverWithoutMixingTurns) {
  for (const int64_t count : {int64_t{2}, int64_t{16384}}) {
    on_threads(GetParam(), [&](RankGroup& group) {
      for (int32_t turn = 0; turn < 300; ++turn) {
        std::vector<float> x(count, static_cast<float>(turn + group.rank()));
        group.all_reduce(x.data(), count);
        const auto sum = static_cast<float>(turn * GetParam() + GetParam() * (GetParam() - 1) / 2);
        EXPECT_TRUE(x == std::vector<float>(count, sum)) << "turn " << turn << " of " << count << " values";
      }
    });
  }
}

TEST_P(Ranks, GiveRankZeroTheirColumns) {
  for (const int64_t vocab : {int64_t{1}, int64_t{211}, int64_t{(1 << 18) * 5 + 1}}) {
    constexpr int64_t kRows = 3;
    on_threads(GetParam(), [&](RankGroup& group) {
      const Range range = shard_vocab(vocab, {group.rank(), GetParam()});
      std::vector<float> mine;
      for (int64_t row = 0; row < kRows; ++row) {
        for (int64_t i = 0; i < range.count; ++i) mine.push_back(share_of(0, row * vocab + range.begin + i));
      }
      std::vector<float> out(group.rank() == 0 ? kRows * vocab : 0);
      group.gather_logits(mine.data(), kRows, vocab, out.data());
      if (group.rank() != 0) return;
      EXPECT_TRUE(out == shares(0, kRows * vocab)) << vocab << " columns";
    });
  }
}

TEST_P(Ranks, ReceiveMessagesOfAnyLength) {
  for (const size_t length : {size_t{0}, size_t{5}, kAreaBytes - 8, kAreaBytes - 7, 3 * kAreaBytes}) {
    std::vector<std::byte> message(length);
    for (size_t i = 0; i < length; ++i) message[i] = static_cast<std::byte>(i * 7);
    on_threads(GetParam(), [&](RankGroup& group) {
      if (group.rank() == 0) {
        group.send(message);
      } else {
        EXPECT_TRUE(group.receive() == message) << length << " bytes";
      }
    });
  }
}

TEST_P(Ranks, ExchangeMessagesInRankOrder) {
  on_threads(GetParam(), [&](RankGroup& group) {
    for (int32_t turn = 0; turn < 3; ++turn) {
      const int32_t mine = 10 * group.rank() + turn;
      const std::vector<std::byte> all = group.exchange(std::as_bytes(std::span(&mine, 1)));
      ASSERT_EQ(all.size(), GetParam() * sizeof(mine));
      const auto* values = reinterpret_cast<const int32_t*>(all.data());
      for (int32_t rank = 0; rank < GetParam(); ++rank) EXPECT_EQ(values[rank], 10 * rank + turn);
    }
    EXPECT_TRUE(group.exchange({}).empty());
  });
}

INSTANTIATE_TEST_SUITE_P(Of, Ranks, ::testing::Values(2, 3, 4, 8),
                         [](const auto& each) { return std::to_string(each.param); });

TEST(RankProcesses, MarkALossOnceARankIsLost) {
  const TestSegment segment(2);
  const RankProcess other([&] {
    RankGroup group({.rank = 1, .size = 2, .segment = segment.descriptor()});
    group.meet();
    pause();
  });
  RankGroup group({.rank = 0, .size = 2, .segment = segment.descriptor()});
  uint32_t word = 0;
  group.mark_loss(&word);
  group.meet();
  EXPECT_EQ(std::atomic_ref(word).load(), 0u);
  other.signal(SIGKILL);
  while (std::atomic_ref(word).load() == 0) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(failure_of([&] { group.check(); }), "EngineFault");
  group.mark_loss(nullptr);
}

TEST(RankProcesses, WaitForAnExchangeNoLongerThanTheyMayToJoin) {
  const TestSegment segment(2);
  const RankProcess other([&] {
    const RankGroup group({.rank = 1, .size = 2, .segment = segment.descriptor()});
    pause();
  });
  // The other has to join in that time, too.
  constexpr auto kJoin = 5000ms;
  RankGroup group({.rank = 0, .size = 2, .segment = segment.descriptor()}, {.join = kJoin});
  std::string message;
  const auto start = Clock::now();
  EXPECT_EQ(failure_of([&] { group.exchange({}); }, &message), "EngineFault");
  EXPECT_GE(Clock::now() - start, kJoin);
  EXPECT_TRUE(
      contains(message, "Rank 1 of 2 (process " + std::to_string(other.pid()) + ") did not start in time"));
}

TEST(RankProcesses, AddUpInRankOrder) {
  constexpr int64_t kCount = 5000;
  const TestSegment segment(3);
  const auto expected = sum_in_rank_order(3, kCount);
  std::vector<RankProcess> processes;
  for (int32_t rank = 0; rank < 3; ++rank) {
    processes.emplace_back([&] {
      RankGroup group({.rank = rank, .size = 3, .segment = segment.descriptor()});
      std::vector<float> x = shares(rank, kCount);
      group.all_reduce(x.data(), kCount);
      if (x != expected) throw std::runtime_error("another sum");
      rank == 0 ? group.close() : (group.receive(), group.close());
    });
  }
  for (RankProcess& process : processes) EXPECT_EQ(process.wait(), 0);
}

// One rank is harmed while it is at `doing`; this process, rank 0, waits for it.
struct Harm {
  const char* name;
  int signal;
  std::chrono::milliseconds least;  // from the harm until it is reported
  const char* expected;
};

// A loaded machine may hold a process up for seconds.
constexpr auto kSilence = 8000ms;

class LostRank : public ::testing::TestWithParam<std::tuple<Harm, Doing>> {};

TEST_P(LostRank, IsReportedByAllOthers) {
  const auto& [harm, doing] = GetParam();
  const TestSegment segment(3);
  const Shared<std::atomic<int32_t>> met;
  const Shared<Clock::time_point> harmed_at;
  const auto run = [&](int32_t rank) {
    RankGroup group({.rank = rank, .size = 3, .segment = segment.descriptor()}, {.silence = kSilence});
    group.doing(doing);
    group.meet();
    ++*met;
    if (rank == 2) pause();
    group.meet();
  };
  RankProcess other([&] { run(1); });
  const RankProcess harmed([&] { run(2); });
  const RankProcess hand([&] {
    while (met->load() < 3) std::this_thread::sleep_for(1ms);
    *harmed_at = Clock::now();
    harmed.signal(harm.signal);
  });
  std::string message;
  EXPECT_EQ(failure_of([&] { run(0); }, &message), "EngineFault");
  const auto after_harm = Clock::now() - *harmed_at;
  EXPECT_TRUE(
      contains(message, "Rank 2 of 3 (process " + std::to_string(harmed.pid()) + ") " + harm.expected));
  EXPECT_GE(after_harm, harm.least);
  EXPECT_EQ(other.wait(), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Of, LostRank,
    ::testing::Combine(::testing::Values(Harm{"Death", SIGKILL, 0ms, "ended while "},
                                         Harm{"Standstill", SIGSTOP, kSilence, "stalled while "}),
                       ::testing::Values(Doing::kLoading, Doing::kPrefilling, Doing::kDecoding)),
    [](const auto& each) {
      return std::string(std::get<0>(each.param).name) +
             std::to_string(static_cast<int>(std::get<1>(each.param)));
    });

TEST(RankGroup, NamesTheRankThatDidNotJoin) {
  const TestSegment segment(3);
  const auto join = [&](int32_t rank) {
    RankGroup({.rank = rank, .size = 3, .segment = segment.descriptor()}, {.join = 5000ms});
  };
  std::string messages[2];
  std::thread first([&] { EXPECT_EQ(failure_of([&] { join(0); }, &messages[0]), "EngineFault"); });
  std::thread second([&] { EXPECT_EQ(failure_of([&] { join(1); }, &messages[1]), "EngineFault"); });
  first.join();
  second.join();
  for (const std::string& message : messages) EXPECT_TRUE(contains(message, "Rank 2 of 3")) << message;
}

TEST(RankGroup, TellsTheOthersOfARankThatGivesUp) {
  const TestSegment segment(2);
  std::thread other([&] { RankGroup({.rank = 1, .size = 2, .segment = segment.descriptor()}); });
  std::string message;
  const auto wait = [&] { RankGroup({.rank = 0, .size = 2, .segment = segment.descriptor()}).meet(); };
  EXPECT_EQ(failure_of(wait, &message), "EngineFault");
  EXPECT_TRUE(contains(message, "Rank 1 of 2"));
  EXPECT_TRUE(contains(message, "gave up"));
  other.join();
}

TEST(RankGroup, ReportsAnotherRankAsItIsWhileADraftModelIsRead) {
  const TestSegment segment(2);
  std::thread other([&] {
    RankGroup group({.rank = 1, .size = 2, .segment = segment.descriptor()});
    group.give_up(EngineError(FailureReason::kCheckpointCorrupt, "model.safetensors ended early"));
  });
  RankGroup group({.rank = 0, .size = 2, .segment = segment.descriptor()});
  other.join();
  std::string message;
  const auto read = [&] { reading_draft_files("draft", [&] { group.meet(); }); };
  EXPECT_EQ(failure_of(read, &message), "CheckpointCorrupt");
  EXPECT_EQ(message, "Rank 1 of 2: model.safetensors ended early");
}

TEST(Segment, HasTheSizeThatTheMemoryPlanCountsWith) {
  EXPECT_EQ(segment_bytes(2), (size_t{128} << 10) + 2 * (size_t{2} << 20));
}

TEST(Segment, SaysHowMuchSharedMemoryItNeeds) {
  TempDir dir;
  if (mount("tmpfs", dir.path().c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "needs the right to mount";
  std::string message;
  EXPECT_EQ(failure_of([&] { make_segment(4, 1, dir.path().c_str()); }, &message), "SharedMemoryTooSmall");
  umount(dir.path().c_str());
  EXPECT_TRUE(contains(message, std::to_string(segment_bytes(4)) + " bytes of " + dir.path().string()));
  EXPECT_TRUE(contains(message, "of 1048576"));
}

}  // namespace
}  // namespace llmservice
