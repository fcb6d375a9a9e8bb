// KV blocks from what an engine measures to be left of its device, which the emulator counts to the byte; and
// that a device without any room left is no fault once an engine is loaded.
#include <map>

#include "failures.h"
#include "gpu_engine_support.h"
#include "warmup_support.h"

namespace llmservice::testing {
namespace {

constexpr size_t kMiB = 1 << 20;
constexpr size_t kTotal = 16 * kMiB;

size_t taken() {
  size_t free = 0;
  size_t total = 0;
  gpu::gpuMemGetInfo(&free, &total);
  return total - free;
}

class MeasuredKv : public GpuEngine {
 protected:
  void TearDown() override { gpu::emulated_device() = {}; }

  EngineOptions options(MemoryShare share, int32_t most = 1'000'000) const {
    EngineOptions options = room_for_four(dir_, {});
    options.dtype = DType::kBF16;
    options.checkpoint = dir_.checkpoint(GetParam().quantization);
    options.num_blocks = most;
    options.memory = share;
    return options;
  }
  static std::unique_ptr<Engine> load_measured(const EngineOptions& options, size_t graphs = 16) {
    return std::make_unique<Engine>(options, gpu_backend(graphs), [](auto, auto) {});
  }
  // Of an engine, but for its KV.
  size_t beside_kv() const {
    const size_t before = taken();
    const auto engine = load_gpu();
    return taken() - before - engine->info().num_blocks * engine->info().kv_bytes_per_block;
  }
  // No byte of the device is free from now on.
  static void fill_device() {
    gpu::emulated_device().taken_by_others += gpu::emulated_device().memory - taken();
  }

  static constexpr MemoryShare kShare{
      .utilization_percent = 90, .context_bytes = 0, .graph_bytes = kMiB, .planned_blocks = 16};
};

TEST_P(MeasuredKv, IsWhatTheShareLeavesAndOtherHoldersShrinkIt) {
  const size_t beside = beside_kv();
  gpu::emulated_device().memory = kTotal;
  const size_t before = taken();
  for (const size_t others : {size_t{0}, 3 * kMiB + 1}) {
    gpu::emulated_device().taken_by_others = others;
    const auto engine = load_measured(options(kShare));
    const EngineInfo& info = engine->info();
    const size_t left = kTotal / 10 * 9 - kMiB - beside - before - others;
    EXPECT_NEAR(info.num_blocks, left / info.kv_bytes_per_block, 1) << others;
    EXPECT_EQ(taken() - before - others, beside + info.num_blocks * info.kv_bytes_per_block);
    EXPECT_LE(taken(), kTotal * 9 / 10 - kMiB);
    EXPECT_GT(taken() + info.kv_bytes_per_block, kTotal * 9 / 10 - kMiB);
  }
}

TEST_P(MeasuredKv, IsNoMoreThanIsOfUseAndServesToItsLastBlock) {
  EXPECT_EQ(load_measured(options(kShare, 64))->info().num_blocks, 64);
  const std::vector<int32_t> expected = run_one(*load_gpu(), request(0, 20, 1)).tokens;
  gpu::emulated_device().memory = kTotal;
  const auto engine = load_measured(options(kShare));
  const int32_t end = engine->info().num_blocks;
  StepPlan plan;
  plan.admit = {request(0, 20, 4).admission};
  plan.blocks = {{0, end - 1}, {0, end - 2}};
  plan.rows = {{0, 20}};
  EXPECT_EQ(engine->step(plan).tokens, expected);
  StepPlan beyond;
  beyond.blocks = {{0, end}};
  std::string message;
  EXPECT_EQ(failure_of([&] { engine->step(beyond); }, &message), "EngineFault");
  EXPECT_TRUE(contains(message, "names a block outside"));
}

TEST_P(MeasuredKv, RefusesWithFigures) {
  const size_t beside = beside_kv();
  const int64_t block = load_gpu()->info().kv_bytes_per_block;
  const auto refusal = [&](size_t memory, size_t others) {
    gpu::emulated_device().memory = memory + others;
    gpu::emulated_device().taken_by_others = others;
    MemoryShare share = kShare;
    share.utilization_percent = 100;
    try {
      load_measured(options(share));
    } catch (const EngineError& error) {
      return std::pair(std::string(name_of(error.reason())),
                       std::map<std::string, int64_t>(error.detail().begin(), error.detail().end()));
    }
    return std::pair(std::string(), std::map<std::string, int64_t>());
  };
  const size_t base = taken() + beside + kMiB;
  const auto [small, detail] = refusal(base + 5 * block, 0);
  EXPECT_EQ(small, "KvCacheTooSmall");
  EXPECT_EQ(detail.at("fits"), 5 * 16);
  EXPECT_EQ(detail.at("freeBytes"), static_cast<int64_t>(kMiB + 5 * block));
  EXPECT_EQ(detail.at("ownBytes"), static_cast<int64_t>(beside));
  EXPECT_EQ(refusal(base, 0).first, "ModelTooLarge");
  EXPECT_EQ(refusal(base + 5 * block, 11 * block).first, "DeviceMemoryTaken");
  EXPECT_EQ(refusal(base + 16 * block, 0).first, "");
  // Before KV is reached: weights find no room, and would without what is more than a driver's context.
  const size_t context = 512 * kMiB;
  EXPECT_EQ(refusal(base - beside - kMiB, context).first, "ModelTooLarge");
  EXPECT_EQ(refusal(base - beside - kMiB, context + beside + kMiB).first, "DeviceMemoryTaken");
}

// What another process takes once the engine is ready is not the engine's fault, nor its end.
TEST_P(MeasuredKv, NothingIsAllocatedOnceItIsLoaded) {
  const std::vector<Request> together = {request(0, 70, 2), request(1, 5, 3)};
  const std::vector<Said> expected = run_requests(*load_gpu(), together, 0);
  const auto engine = load_gpu();
  fill_device();
  const size_t before = taken();
  warm_up_prompt(*engine, 128, 112);
  warm_up(*engine, {.batch = 3, .context = 128});
  const std::vector<Said> said = run_requests(*engine, together, 0);
  for (size_t i = 0; i < together.size(); ++i) EXPECT_TRUE(said[i].same_as(expected[i])) << i;
  EXPECT_EQ(taken(), before);
}

TEST_P(MeasuredKv, StepsRunLaunchByLaunchWhereGraphsFindNoRoom) {
  const Request one = request(0, 20, 6);
  const Said expected = run_one(*load_gpu(0), one);
  gpu::emulated_device().graph = 64 << 10;
  for (const size_t room : {0, 100 << 10}) {
    auto backend = gpu_backend();
    const Backend& counted = *backend;
    const auto engine = load(std::move(backend));
    fill_device();
    gpu::emulated_device().taken_by_others -= room;
    for (int again = 0; again < 2; ++again) EXPECT_TRUE(run_one(*engine, one).same_as(expected)) << again;
    const GraphCounts counts = counted.graph_counts();
    // Two lists a step: layers and head.
    EXPECT_GE(counts.direct, 6u) << room;
    EXPECT_EQ(counts.replayed > 0, room > 0);
    EXPECT_GE(counts.refused, 1u);
    EXPECT_EQ(counts.bytes, room > 0 ? gpu::emulated_device().graph : 0);
    gpu::emulated_device().taken_by_others = 0;
  }
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, MeasuredKv,
                         ::testing::Values(Checkpoint{"llama", TinyModel::kLlama, LoadQuantization::kNone},
                                           Checkpoint{"hybrid", TinyModel::kHybrid, LoadQuantization::kNone}),
                         name_of_checkpoint);

}  // namespace
}  // namespace llmservice::testing
