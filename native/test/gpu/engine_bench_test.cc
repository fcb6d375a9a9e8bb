// What the benchmark's figures stand on: drafts that are right as often as a script says and change no token,
// and launches of a step that are counted whole, kernel by kernel.
#include "../../bench/gpu/kernel_times.h"
#include "../../bench/gpu/model_load.h"
#include "gpu_engine_support.h"

namespace llmservice::testing {
namespace {

constexpr bench::LoadLimits kLimits = {.block_size = 16, .rows = 128, .drafts = 0, .vocab = 211};
constexpr bench::Load kLoad = {.sequences = 2, .prompt = 64, .generated = 22};

class GpuBench : public GpuEngine {};

TEST_P(GpuBench, ScriptedDraftsAreRightAsOftenAsWantedAndChangeNoToken) {
  const auto plain = load_gpu();
  const bench::LoadTimes expected = bench::run_load(*plain, kLoad, kLimits);
  EXPECT_EQ(expected.faults, 0);
  EXPECT_EQ(expected.drafts, 0);
  EXPECT_EQ(expected.said[1].size(), 64u + 22u);

  constexpr int32_t kDrafts = 4;
  const auto truths = std::make_shared<bench::Truths>(expected.said);
  const auto engine =
      load(gpu_backend(), {DraftMethod::kMtp, kDrafts}, std::make_unique<bench::ScriptedDrafter>(truths, 3));
  bench::LoadLimits limits = kLimits;
  limits.drafts = kDrafts;
  const bench::LoadTimes drafted = bench::run_load(*engine, kLoad, limits);
  EXPECT_EQ(drafted.said, expected.said);
  // After the first token twenty come four by four, and the last one alone.
  EXPECT_EQ(expected.decode_micros.size(), 21u);
  EXPECT_EQ(drafted.decode_micros.size(), 6u);
  EXPECT_EQ(drafted.accepted * kDrafts, drafted.drafts * 3);
}

TEST_P(GpuBench, EveryLaunchOfAStepIsCountedByItsKernel) {
  bench::KernelTimes times({.samples = 1, .flush_bytes = 16});
  int64_t launches = 0;
  bool looking = false;
  auto backend = std::make_unique<gpu::GpuBackend>(
      gpu::GpuOptions{.on_list = [&](gpu::Device& device, const gpu::LaunchList& list) {
        if (looking) launches += static_cast<int64_t>(list.launches().size());
        times.take(device, list);
      }});
  const auto engine = load(std::move(backend));
  bench::Load few = kLoad;
  few.generated = 3;
  bench::run_load(*engine, few, kLimits, [&](int32_t decoding, bool) {
    if (decoding == 0) return;
    looking = true;
    times.begin();
  });
  const bench::StepTimes step = times.end();
  EXPECT_GT(launches, 0);
  EXPECT_EQ(step.launches, launches);
  EXPECT_GT(step.whole_micros, 0);
  int64_t counted = 0;
  for (const bench::KernelTime& kernel : step.kernels) {
    EXPECT_GT(kernel.micros, 0) << kernel.kernel;
    counted += kernel.launches;
  }
  EXPECT_EQ(counted, launches);
  EXPECT_GT(step.kernels.size(), 5u);
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, GpuBench,
                         ::testing::Values(Checkpoint{"hybrid", TinyModel::kHybrid, LoadQuantization::kNone}),
                         name_of_checkpoint);

}  // namespace
}  // namespace llmservice::testing
