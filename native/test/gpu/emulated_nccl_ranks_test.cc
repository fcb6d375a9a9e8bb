// Ranks whose sums are NCCL's, with a library made for tests in its place (emulated_nccl.cc): who is chosen,
// that engines say the same, what is said where there is no library to use, and that nobody waits for a rank
// that is lost.
#include <atomic>
#include <chrono>
#include <cstdlib>

#include "backends/gpu/nccl_collective.h"
#include "gpu_support.h"
#include "rank_engines_support.h"

namespace llmservice::testing {
namespace {

using namespace std::chrono_literals;

// A device for each rank, and the library by its path.
void use_emulated(int32_t devices, bool peers = true) {
  gpu::emulated_device() = {.devices = devices, .peers = peers};
  setenv("LLMSERVICE_NCCL_LIBRARY", EMULATED_NCCL, 1);
}

class NcclCollectives : public ::testing::TestWithParam<int32_t> {};

// The library of the tests adds in another order, so values are such that no bit depends on it.
TEST_P(NcclCollectives, AddUpAndGatherWhatRankGroupsDo) {
  constexpr int64_t kCount = 2501;
  constexpr int64_t kVocab = 211;
  constexpr int64_t kRows = 32;
  const int32_t size = GetParam();
  use_emulated(size);
  on_threads(size, [&](RankGroup& group) {
    gpu::Device own(group.rank());
    const auto put = [&](const std::vector<float>& values) {
      auto* const x = static_cast<float*>(own.allocate(values.size() * sizeof(float)));
      own.upload(std::as_bytes(std::span(values)), x);
      return x;
    };
    const auto take = [&](float* x, size_t count) {
      std::vector<float> values(count);
      own.download(x, std::as_writable_bytes(std::span(values)));
      own.release(x);
      return values;
    };
    gpu::NcclCollective ranks(own, group, [&](const gpu::Launch& launch) { own.run(launch); });
    EXPECT_EQ(ranks.name(), "NCCL 2.27.7");
    std::vector<float> x(kCount);
    for (int64_t i = 0; i < kCount; ++i) x[i] = static_cast<float>((group.rank() + 1) * i % 1000);
    float* const on_device = put(x);
    ranks.all_reduce(on_device, kCount);
    ranks.all_reduce(on_device, kCount - 1000);
    group.all_reduce(x.data(), kCount);
    group.all_reduce(x.data(), kCount - 1000);
    expect_same_bits(take(on_device, kCount), x, "sums");
    const int64_t width =
        first_column(kVocab, group.rank() + 1, size) - first_column(kVocab, group.rank(), size);
    const std::vector<float> mine = random_floats(kRows * width, 50 + group.rank());
    float* const part = put(mine);
    float* const gathered = put(std::vector<float>(kRows * kVocab, NAN));
    std::vector<float> expected(kRows * kVocab);
    ranks.gather_logits(part, kRows, kVocab, gathered);
    group.gather_logits(mine.data(), kRows, kVocab, expected.data());
    const std::vector<float> all = take(gathered, kRows * kVocab);
    if (group.rank() == 0) expect_same_bits(all, expected, "logits");
    ranks.check();
    own.release(part);
  });
}

INSTANTIATE_TEST_SUITE_P(Of, NcclCollectives, ::testing::Values(2, 3, 8));

class NcclEngines : public RankEngines {
 protected:
  // What two ranks report that could not be loaded, or nothing.
  nlohmann::json refusal(Collectives choice, const std::function<void(int32_t)>& before_load,
                         const GroupLimits& limits = {}) {
    return report_by({.collectives = choice, .limits = limits, .before_load = before_load},
                     [](Engine&, const Backend&) { return nlohmann::json(); });
  }
};

nlohmann::json who_and_what(Engine& engine, const Backend&) {
  const std::vector<Request> together = {request(0, 20, 3), request(1, 5, 4)};
  return {{"collectives", engine.info().collectives.value_or("")},
          {"said", to_json(run_requests(engine, together, 0))}};
}

// Two summands have one sum, whoever comes first: not a bit may differ here.
TEST_P(NcclEngines, SayWhatOwnSumsSay) {
  const nlohmann::json own = report_by({.collectives = Collectives::kOwn}, who_and_what);
  ASSERT_TRUE(own.contains("collectives")) << own;
  EXPECT_EQ(own.at("collectives"), "own");
  const nlohmann::json library = report_by(
      {.collectives = Collectives::kLibrary, .before_load = [](int32_t) { use_emulated(2); }}, who_and_what);
  ASSERT_TRUE(library.contains("collectives")) << library;
  EXPECT_EQ(library.at("collectives"), "NCCL 2.27.7");
  EXPECT_EQ(library.at("said"), own.at("said"));
}

TEST_P(NcclEngines, AreChosenWhereDevicesDoNotReachEachOther) {
  const auto apart = [](int32_t) { use_emulated(2, false); };
  const nlohmann::json report = report_by({.before_load = apart}, who_and_what);
  ASSERT_TRUE(report.contains("collectives")) << report;
  EXPECT_EQ(report.at("collectives"), "NCCL 2.27.7");
  const nlohmann::json own = refusal(Collectives::kOwn, apart);
  EXPECT_EQ(own.at("reason"), "DeviceUnavailable");
  EXPECT_TRUE(contains(own.at("message"), "the driver gives no access from one to the other"));
  EXPECT_TRUE(contains(own.at("message"), "spec.engine.collectives to library where NCCL is installed"));
  const nlohmann::json reached = report_by({.before_load = [](int32_t) { use_emulated(2); }}, who_and_what);
  EXPECT_EQ(reached.at("collectives"), "own");
}

TEST_P(NcclEngines, SayWhatIsMissing) {
  const auto without = [](bool peers) {
    return [peers](int32_t) {
      use_emulated(2, peers);
      setenv("LLMSERVICE_NCCL_LIBRARY", "/nowhere/libnccl.so.2", 1);
    };
  };
  const nlohmann::json missing = refusal(Collectives::kLibrary, without(true));
  EXPECT_EQ(missing.at("reason"), "DeviceUnavailable");
  EXPECT_TRUE(contains(missing.at("message"), "NCCL cannot be opened (/nowhere/libnccl.so.2: cannot open"));
  EXPECT_TRUE(contains(missing.at("message"), gpu::kNcclPackage));
  EXPECT_TRUE(contains(missing.at("message"), "LLMSERVICE_NCCL_LIBRARY"));
  const nlohmann::json neither = refusal(Collectives::kAuto, without(false));
  EXPECT_EQ(neither.at("reason"), "DeviceUnavailable");
  EXPECT_TRUE(
      contains(neither.at("message"), "rank 0's device 0 (kernel emulator) cannot use the memory of"));
  EXPECT_TRUE(contains(neither.at("message"), "Nor can NCCL stand in: NCCL cannot be opened (/nowhere/"));
  const nlohmann::json other = refusal(Collectives::kLibrary, [](int32_t) {
    use_emulated(2);
    setenv("LLMSERVICE_NCCL_LIBRARY", "libdl.so.2", 1);
  });
  EXPECT_TRUE(contains(other.at("message"), "libdl.so.2 has no ncclGetVersion"));
}

TEST_P(NcclEngines, RefuseALibraryThatIsTooOldOnAnyRank) {
  for (const int32_t old : {0, 1}) {
    const nlohmann::json report = refusal(Collectives::kLibrary, [old](int32_t rank) {
      use_emulated(2);
      if (rank == old) setenv("EMULATED_NCCL_VERSION", old == 0 ? "2803" : "21304", 1);
    });
    EXPECT_EQ(report.at("reason"), "DeviceUnavailable");
    EXPECT_TRUE(contains(report.at("message"), old == 0 ? " is NCCL 2.8.3; 2.14.0 or newer is needed"
                                                        : " is NCCL 2.13.4; 2.14.0 or newer is needed"));
    EXPECT_EQ(contains(report.at("message"), "Of rank 1: ") == true, old == 1);
  }
}

TEST_P(NcclEngines, TakeNoTwoRanksOfOneDevice) {
  const nlohmann::json report = refusal(Collectives::kLibrary, [](int32_t) { use_emulated(1); });
  EXPECT_EQ(report.at("reason"), "DeviceUnavailable");
  EXPECT_TRUE(contains(report.at("message"),
                       "NCCL 2.27.7 takes one rank of a device, and rank 0 and rank 1 are both on device 0"));
}

TEST_P(NcclEngines, ThatDoNotConnectGiveUpInTime) {
  const nlohmann::json report = refusal(Collectives::kLibrary,
                                        [](int32_t rank) {
                                          use_emulated(2);
                                          if (rank == 1) setenv("EMULATED_NCCL_STALLS", "1", 1);
                                        },
                                        {.join = 8s, .silence = 60s});
  EXPECT_EQ(report.at("reason"), "DeviceUnavailable");
  EXPECT_TRUE(contains(report.at("message"), "NCCL 2.27.7 did not connect the ranks within 8000 ms"));
}

TEST_P(NcclEngines, ReportALibraryThatFails) {
  for (const int32_t failing : {0, 1}) {
    const nlohmann::json report = report_by({.collectives = Collectives::kLibrary,
                                             .before_load =
                                                 [failing](int32_t rank) {
                                                   use_emulated(2);
                                                   if (rank == failing)
                                                     setenv("EMULATED_NCCL_FAULT_AFTER", "10", 1);
                                                 }},
                                            who_and_what);
    ASSERT_TRUE(report.contains("reason")) << report;
    EXPECT_EQ(report.at("reason"), "DeviceFault");
    EXPECT_TRUE(
        contains(report.at("message"), "NCCL 2.27.7 failed: unhandled system error (as the test wished)"));
    EXPECT_EQ(contains(report.at("message"), "Rank 1 of 2: ") == true, failing == 1);
  }
}

TEST_P(NcclEngines, AKilledRankHoldsNobodyUp) {
  for (const bool connecting : {true, false}) {
    const Shared<std::atomic<int>> rounds;
    const Shared<std::atomic<int>> begun;
    const Setting setting{.collectives = Collectives::kLibrary, .before_load = [&](int32_t rank) {
                            use_emulated(2);
                            ++*begun;
                            if (connecting && rank == 1) setenv("EMULATED_NCCL_STALLS", "1", 1);
                          }};
    const TestSegment segment(2);
    std::vector<RankProcess> processes = start(setting, &segment, [&](Engine& engine, const Backend&) {
      for (;; ++*rounds) run_requests(engine, {request(0, 20, 4)}, 0);
      return nlohmann::json();
    });
    if (connecting) {
      while (begun->load() < 2) std::this_thread::sleep_for(10ms);
      std::this_thread::sleep_for(1s);
    } else {
      while (rounds->load() < 3) std::this_thread::sleep_for(10ms);
    }
    const pid_t killed = processes[0].pid();
    processes[0].signal(SIGKILL);
    EXPECT_EQ(processes[1].wait(), 0) << connecting;
    EXPECT_EQ(report().at("reason"), "EngineFault") << connecting;
    EXPECT_TRUE(
        contains(report().at("message"), "Rank 1 of 2 (process " + std::to_string(killed) + ") ended while"))
        << connecting;
  }
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, NcclEngines,
                         ::testing::Values(Checkpoint{"llama", TinyModel::kLlama, LoadQuantization::kNone}),
                         name_of_checkpoint);

}  // namespace
}  // namespace llmservice::testing
