// Whole engines on the GPU backend: what it says is what the reference says, and no way of running the same
// sequences changes a bit of it.
#include <gtest/gtest.h>

#include "backends/gpu/backend.h"
#include "drafts_support.h"
#include "failures.h"

namespace llmservice::testing {
namespace {

constexpr int32_t kDrafts = 3;

Request request(int32_t slot, int32_t length, int32_t generate, int32_t chunk = 64) {
  return {.admission = {.slot = slot,
                        .tokens = prompt(length, slot),
                        .prompt_length = length,
                        .max_length = length + generate,
                        .stop_tokens = {},
                        .sampling = {.top_logprobs = 2}},
          .chunk = chunk};
}

struct Checkpoint {
  const char* name;
  bool hybrid;
  LoadQuantization quantization;
};

class GpuEngine : public ::testing::TestWithParam<Checkpoint> {
 protected:
  void SetUp() override {
    if (GetParam().hybrid) {
      Tensors tensors = tiny_hybrid_tensors();
      add_mtp(tensors);
      write_checkpoint(dir_, tiny_hybrid_config(), tensors);
    } else {
      write_checkpoint(dir_, tiny_llama_config(), tiny_llama_tensors());
    }
  }
  void TearDown() override { gpu::emulated_device() = {}; }

  std::unique_ptr<Engine> load(std::unique_ptr<Backend> backend, const Speculation& speculation = {},
                               std::unique_ptr<Drafter> drafter = nullptr) const {
    EngineOptions options = room_for_four(dir_, speculation);
    options.dtype = DType::kBF16;
    options.quantization = GetParam().quantization;
    return std::make_unique<Engine>(
        options, std::move(backend), [](auto, auto) {}, std::move(drafter));
  }
  std::unique_ptr<Engine> load_gpu(size_t graphs = 16) const { return load(gpu_backend(graphs)); }
  static std::unique_ptr<gpu::GpuBackend> gpu_backend(size_t graphs = 16) {
    return std::make_unique<gpu::GpuBackend>(gpu::GpuOptions{.device = 0, .graphs = graphs});
  }
  static Said run_one(Engine& engine, const Request& one) { return run_requests(engine, {one}, 0).front(); }

  TempDir dir_;
};

TEST_P(GpuEngine, SaysWhatTheReferenceSays) {
  const Request one = request(0, 70, 12);
  const Said expected = run_one(*load(std::make_unique<ReferenceBackend>()), one);
  const Said said = run_one(*load_gpu(), one);
  const float tolerance = GetParam().quantization == LoadQuantization::kNone ? 0.08f : 0.5f;
  for (size_t i = 0; i < expected.tokens.size(); ++i) {
    if (said.tokens[i] != expected.tokens[i]) {
      // From here on the two tell different stories: this must have been a near tie.
      EXPECT_LT(expected.top_logprobs[2 * i] - expected.top_logprobs[2 * i + 1], tolerance) << "token " << i;
      EXPECT_GT(i, 0u);
      break;
    }
    EXPECT_NEAR(said.logprobs[i], expected.logprobs[i], tolerance) << "token " << i;
  }
}

TEST_P(GpuEngine, GraphsChangeNoBit) {
  const Request one = request(0, 30, 5);
  auto backend = gpu_backend();
  const Backend& counted = *backend;
  const auto engine = load(std::move(backend));
  const Said first = run_one(*engine, one);
  const Said second = run_one(*engine, one);
  EXPECT_GT(counted.graph_counts().captured, 0u);
  // Of each of four decodes, the layers and the head; the second time around none of them is new.
  EXPECT_GE(counted.graph_counts().replayed, 2 * (4u + 3u));
  const auto plain = load_gpu(0);
  EXPECT_TRUE(run_one(*plain, one).same_as(first));
  EXPECT_TRUE(second.same_as(first));
}

TEST_P(GpuEngine, OthersAndCutsChangeNoBit) {
  const std::vector<Request> together = {request(0, 70, 4), request(1, 33, 6), request(2, 129, 2)};
  const std::vector<Said> said = run_requests(*load_gpu(), together, 0);
  for (size_t i = 0; i < together.size(); ++i) {
    const auto alone = load_gpu();
    EXPECT_TRUE(run_one(*alone, together[i]).same_as(said[i])) << "sequence " << i;
  }
  Request cut = together[0];
  cut.chunk = GetParam().hybrid ? 128 : 16;  // hybrids are cut on multiples of 64
  EXPECT_TRUE(run_one(*load_gpu(), cut).same_as(said[0]));
}

TEST_P(GpuEngine, DraftsChangeNoBit) {
  const std::vector<Request> both = {request(0, 70, 8), request(1, 20, 8)};
  const std::vector<Said> expected = run_requests(*load_gpu(), both, 0);
  auto oracle = std::make_unique<OracleDrafter>(truths_of(both, expected), std::vector<int32_t>{0, 3, 1, 2});
  const auto engine = load(gpu_backend(), {DraftMethod::kNgram, kDrafts}, std::move(oracle));
  const std::vector<Said> said = run_requests(*engine, both, kDrafts);
  for (size_t i = 0; i < both.size(); ++i) {
    EXPECT_TRUE(said[i].same_as(expected[i])) << "sequence " << i;
    EXPECT_LT(said[i].steps, 8) << "drafts were accepted";
  }
  if (!GetParam().hybrid) return;
  const auto mtp = load(gpu_backend(), {DraftMethod::kMtp, kDrafts});
  const std::vector<Said> guessed = run_requests(*mtp, both, kDrafts);
  for (size_t i = 0; i < both.size(); ++i) EXPECT_TRUE(guessed[i].same_as(expected[i])) << "sequence " << i;
}

TEST_P(GpuEngine, AFaultOfTheDeviceLosesTheSequencesAndNamesItself) {
  const auto engine = load_gpu();
  StepPlan plan;
  plan.admit = {request(0, 40, 4).admission};
  for (int32_t b = 0; b < kBlocksPerSlot; ++b) plan.blocks.push_back({0, b});
  plan.rows = {{0, 40}};
  gpu::emulated_device().launches_until_fault = 20;
  std::string message;
  EXPECT_EQ(failure_of([&] { engine->step(plan); }, &message), "DeviceFault");
  EXPECT_TRUE(contains(message, "unspecified launch failure"));
  gpu::emulated_device() = {};
  EXPECT_EQ(failure_of([&] { engine->step({}); }, &message), "EngineFault");
  EXPECT_TRUE(contains(message, "unspecified launch failure"));
  // A new engine on the same device starts afresh.
  EXPECT_EQ(run_one(*load_gpu(), request(0, 40, 4)).tokens.size(), 4u);
}

TEST_P(GpuEngine, WhatDoesNotFitIsRefusedByName) {
  gpu::emulated_device().memory = 256 << 10;
  std::string message;
  EXPECT_EQ(failure_of([&] { load_gpu(); }, &message), "ModelTooLarge");
  EXPECT_TRUE(contains(message, "kernel emulator has"));
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, GpuEngine,
                         ::testing::Values(Checkpoint{"llama", false, LoadQuantization::kNone},
                                           Checkpoint{"llama_fp8", false, LoadQuantization::kFp8},
                                           Checkpoint{"hybrid", true, LoadQuantization::kNone}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace llmservice::testing
