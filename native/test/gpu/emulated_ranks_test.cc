// Ranks whose devices fail each other, which only the emulator does when asked; and ranks that are threads of
// one process, where vendors do not open what the process itself shares.
#include <thread>

#include "backends/gpu/collective.h"
#include "backends/gpu/kernels/rows.h"
#include "gpu_support.h"
#include "rank_engines_support.h"

namespace llmservice::testing {
namespace {

using namespace std::chrono_literals;

// Runs body(device, group) for each of `size` ranks on a thread.
void on_devices(int32_t size, const std::function<void(gpu::Device&, RankGroup&)>& body) {
  on_threads(size, [&](RankGroup& group) {
    gpu::Device own(0);
    body(own, group);
  });
}

float* put(gpu::Device& own, const std::vector<float>& values) {
  auto* const x = static_cast<float*>(own.allocate(values.size() * sizeof(float)));
  own.upload(std::as_bytes(std::span(values)), x);
  return x;
}

std::vector<float> take(gpu::Device& own, float* x, size_t count) {
  std::vector<float> values(count);
  own.download(x, std::as_writable_bytes(std::span(values)));
  own.release(x);
  return values;
}

class Collectives : public ::testing::TestWithParam<int32_t> {};

// Whatever is larger than what ranks exchange at once goes in pieces.
TEST_P(Collectives, AddUpAndGatherInPiecesWhatRankGroupsDo) {
  constexpr int64_t kCapacity = 1000;
  constexpr int64_t kCount = 2 * kCapacity + 77;
  constexpr int64_t kVocab = 211;
  constexpr int64_t kRows = 32;
  const int32_t size = GetParam();
  on_devices(size, [&](gpu::Device& own, RankGroup& group) {
    const gpu::Launches none;
    gpu::DeviceCollective ranks(
        own, group, [&](const gpu::Launch& launch) { own.run(launch); }, kCapacity);
    std::vector<float> x = random_floats(kCount, 1 + group.rank());
    float* const on_device = put(own, x);
    ranks.all_reduce(on_device, kCount);
    group.all_reduce(x.data(), kCount);
    expect_same_bits(take(own, on_device, kCount), x, "sums");
    const int64_t width =
        first_column(kVocab, group.rank() + 1, size) - first_column(kVocab, group.rank(), size);
    const std::vector<float> mine = random_floats(kRows * width, 50 + group.rank());
    float* const part = put(own, mine);
    float* const gathered = put(own, std::vector<float>(kRows * kVocab, NAN));
    std::vector<float> expected(kRows * kVocab);
    ranks.gather_logits(part, kRows, kVocab, gathered);
    group.gather_logits(mine.data(), kRows, kVocab, expected.data());
    const std::vector<float> all = take(own, gathered, kRows * kVocab);
    if (group.rank() == 0) expect_same_bits(all, expected, "logits");
    own.release(part);
  });
}

INSTANTIATE_TEST_SUITE_P(Of, Collectives, ::testing::Values(2, 3, 8));

TEST(RankDevices, AreEightAtMost) {
  on_devices(9, [](gpu::Device& own, RankGroup& group) {
    std::string message;
    EXPECT_EQ(failure_of([&] { gpu::RankMemories(own, group, 1000); }, &message), "ParallelismInvalid");
    EXPECT_TRUE(contains(message, "9 were asked for"));
  });
}

// A rank that stalls for good, in a call of its driver for example, where the others continue.
class StandsStill final : public RankChannel {
 public:
  StandsStill(RankGroup& group, int at) : group_(group), left_(at) {}
  int32_t rank() const override { return group_.rank(); }
  int32_t size() const override { return group_.size(); }
  std::chrono::milliseconds patience() const override { return group_.patience(); }
  std::vector<std::byte> exchange(std::span<const std::byte> mine) override {
    if (--left_ == 0) pause();
    std::vector<std::byte> all = group_.exchange(mine);
    if (left_ == 1) pause();
    return all;
  }
  void check() const override { group_.check(); }
  bool ended() const override { return group_.ended(); }
  void mark_loss(uint32_t* word) override { group_.mark_loss(word); }

 private:
  RankGroup& group_;
  int left_;
};

// The error of rank 0 where rank 1 stalls before (1) or after (2) it has sent what it shares, or after
// the ranks have opened each other's memory (3).
std::string error_where_rank_one_stops(int at, std::string* message) {
  const TestSegment segment(2);
  const auto connect = [&](int32_t rank) {
    RankGroup group({.rank = rank, .size = 2, .segment = segment.descriptor()}, {.join = 8s});
    group.doing(Doing::kConnecting);
    StandsStill slow(group, at);
    gpu::Device own(0);
    const gpu::RankMemories memories(own, rank == 1 ? static_cast<RankChannel&>(slow) : group, 1000);
  };
  const RankProcess other([&] { connect(1); });
  return failure_of([&] { connect(0); }, message);
}

TEST(RankDevices, ThatStandStillWhileTheyConnectAreNamed) {
  std::string message;
  EXPECT_EQ(error_where_rank_one_stops(1, &message), "EngineFault");
  EXPECT_TRUE(contains(message, "Rank 1 of 2"));
  EXPECT_TRUE(contains(message, "connecting its device"));
  EXPECT_EQ(error_where_rank_one_stops(3, &message), "DeviceUnavailable");
  EXPECT_TRUE(
      contains(message, "rank 1's device 0 (kernel emulator) writes to the memory of rank 0's device 0"));
  EXPECT_TRUE(contains(message, "within 8000 ms"));
}

TEST_P(RankEngines, RefuseDevicesThatDoNotReachEachOther) {
  const nlohmann::json report =
      report_by({.before_load = [](int32_t) { gpu::emulated_device() = {.devices = 2, .peers = false}; }},
                [](Engine&, const Backend&) { return nlohmann::json(); });
  EXPECT_EQ(report.at("reason"), "DeviceUnavailable");
  EXPECT_TRUE(contains(report.at("message"),
                       "rank 0's device 0 (kernel emulator) cannot use the memory of rank "
                       "1's device 1 (kernel emulator), the driver gives no access"));
}

// Each has a device of 40 MiB, 16 of which they share with each other.
TEST_P(RankEngines, TakeTheBlocksThatFitWhereOthersLeaveLeast) {
  constexpr size_t kMiB = 1 << 20;
  const auto report_with = [&](size_t others_on_rank_one, int32_t planned) {
    const auto limit = [=](int32_t rank) {
      gpu::emulated_device() = {.devices = 2, .memory = 40 * kMiB};
      if (rank == 1) gpu::emulated_device().taken_by_others = others_on_rank_one;
    };
    return report_by({.memory = MemoryShare{.utilization_percent = 90,
                                            .context_bytes = kMiB,
                                            .graph_bytes = kMiB,
                                            .planned_blocks = planned},
                      .before_load = limit},
                     [](Engine& engine, const Backend&) -> nlohmann::json {
                       const EngineInfo& info = engine.info();
                       return {{"blocks", info.num_blocks},
                               {"bytes", info.kv_bytes_per_block},
                               {"said", to_json(run_requests(engine, {request(0, 66, 3)}, 0))}};
                     });
  };
  const nlohmann::json alone = report_with(0, 16);
  const nlohmann::json beside = report_with(4 * kMiB, 16);
  const auto bytes = alone.at("bytes").get<int64_t>();
  EXPECT_EQ(beside.at("said"), alone.at("said"));
  // Rank 0, which has the logits too, had least before.
  const int64_t fewer = alone.at("blocks").get<int64_t>() - beside.at("blocks").get<int64_t>();
  EXPECT_LE(fewer, static_cast<int64_t>(4 * kMiB) / bytes + 1);
  EXPECT_GT(fewer, static_cast<int64_t>(2 * kMiB) / bytes);
  const nlohmann::json refused = report_with(15 * kMiB, alone.at("blocks").get<int32_t>());
  EXPECT_EQ(refused.at("reason"), "DeviceMemoryTaken");
  EXPECT_TRUE(contains(refused.at("message"), "the device of rank 1"));
  EXPECT_TRUE(contains(refused.at("message"), "15 MiB by other processes"));
}

TEST_P(RankEngines, ReportAnotherRanksDeviceThatFails) {
  for (const bool loaded : {false, true}) {
    const auto fail = [](int32_t rank) {
      if (rank == 1) gpu::emulated_device().launches_until_fault = 7;
    };
    Setting setting;
    (loaded ? setting.after_load : setting.before_load) = fail;
    const nlohmann::json report = report_by(setting, [](Engine& engine, const Backend&) {
      return to_json(run_requests(engine, {request(0, 20, 4)}, 0));
    });
    EXPECT_EQ(report.at("reason"), "DeviceFault") << loaded;
    EXPECT_TRUE(contains(report.at("message"), "Rank 1 of 2: ")) << loaded;
    EXPECT_TRUE(contains(report.at("message"), "unspecified launch failure")) << loaded;
  }
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, RankEngines,
                         ::testing::Values(Checkpoint{"llama", TinyModel::kLlama, LoadQuantization::kNone}),
                         name_of_checkpoint);

}  // namespace
}  // namespace llmservice::testing
