// Whole engines on the GPU backend: what it says is what the reference says, and no way of running the same
// sequences changes a bit of it.
#include "gpu_engine_support.h"
#include "ops_support.h"

namespace llmservice::testing {
namespace {

constexpr int32_t kDrafts = 3;

TEST_P(GpuEngine, SaysWhatTheReferenceSays) { expect_what_the_reference_says(); }

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

TEST_P(GpuEngine, PassesTheSelfCheck) { expect_to_pass_the_self_check(); }

TEST_P(GpuEngine, OthersAndCutsChangeNoBit) { expect_no_bit_to_change_with_others_and_cuts(); }

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
  if (!GetParam().hybrid()) return;
  const auto mtp = load(gpu_backend(), {DraftMethod::kMtp, kDrafts});
  const std::vector<Said> guessed = run_requests(*mtp, both, kDrafts);
  for (size_t i = 0; i < both.size(); ++i) EXPECT_TRUE(guessed[i].same_as(expected[i])) << "sequence " << i;
}

TEST_P(GpuEngine, TuningOfProductsChangesNoBit) { expect_no_bit_to_change_with_tuning(); }

class CodedGpuEngine : public GpuEngine {};

TEST_P(CodedGpuEngine, SaysWhatTheReferenceSays) { expect_what_the_reference_says(); }

TEST_P(CodedGpuEngine, PassesTheSelfCheck) { expect_to_pass_the_self_check(); }

class OtherLayers : public GpuEngine {};

TEST_P(OtherLayers, SaysWhatTheReferenceSays) { expect_what_the_reference_says(); }

TEST_P(OtherLayers, PassesTheSelfCheck) { expect_to_pass_the_self_check(); }

TEST_P(OtherLayers, OthersAndCutsChangeNoBit) { expect_no_bit_to_change_with_others_and_cuts(); }

// One of each kind of kernels; those of products, for every type, have a test of their own.
class CodedCuts : public GpuEngine {};

TEST_P(CodedCuts, OthersAndCutsChangeNoBit) { expect_no_bit_to_change_with_others_and_cuts(); }

TEST(GpuEncoder, EmbedsAsTheReferenceAndNeighboursChangeNoBit) {
  TempDir dir;
  ModelConfig config = tiny_llama_config();
  config.bidirectional = true;
  write_checkpoint(dir, config, tiny_llama_tensors());
  const auto embed = [&](std::unique_ptr<Backend> backend, const std::vector<int32_t>& lengths) {
    EngineOptions options = room_for_four(dir, {});
    options.dtype = DType::kBF16;
    Engine engine(options, std::move(backend), [](auto, auto) {});
    StepPlan plan;
    for (int32_t slot = 0; slot < static_cast<int32_t>(lengths.size()); ++slot) {
      const int32_t length = lengths[slot];
      plan.admit.push_back({.slot = slot,
                            .tokens = prompt(length, length),
                            .prompt_length = length,
                            .max_length = length,
                            .stop_tokens = {},
                            .sampling = {},
                            .pooling = Pooling::kMean});
      for (int32_t b = 0; b < kBlocksPerSlot; ++b) plan.blocks.push_back({slot, slot * kBlocksPerSlot + b});
      plan.rows.push_back({slot, length});
    }
    return engine.step(plan).embeddings.values;
  };
  const auto on_gpu = [&](const std::vector<int32_t>& lengths) {
    return embed(std::make_unique<gpu::GpuBackend>(gpu::GpuOptions{.device = 0, .graphs = 0}), lengths);
  };
  const std::vector<float> both = on_gpu({70, 5});
  expect_close(both, embed(std::make_unique<ReferenceBackend>(), {70, 5}), 0.02f, "embeddings");
  expect_same_bits(on_gpu({70}), std::span(both).first(64), "the longer one alone");
  expect_same_bits(on_gpu({5}), std::span(both).last(64), "the shorter one alone");
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, GpuEngine, kCheckpoints, name_of_checkpoint);
INSTANTIATE_TEST_SUITE_P(WideHeads, GpuEngine,
                         ::testing::Values(Checkpoint{"wide_hybrid", TinyModel::kWideHybrid,
                                                      LoadQuantization::kNone},
                                           Checkpoint{"wide_hybrid_fp8", TinyModel::kWideHybrid,
                                                      LoadQuantization::kFp8, DType::kF32, true}),
                         name_of_checkpoint);
INSTANTIATE_TEST_SUITE_P(Checkpoints, CodedGpuEngine, kCodedCheckpoints, name_of_checkpoint);
INSTANTIATE_TEST_SUITE_P(Checkpoints, OtherLayers, kOtherLayers, name_of_checkpoint);
INSTANTIATE_TEST_SUITE_P(Checkpoints, CodedCuts,
                         ::testing::Values(Checkpoint{"moe_int8", TinyModel::kMoe, LoadQuantization::kInt8},
                                           Checkpoint{"nvfp4", TinyModel::kNvfp4, LoadQuantization::kNone},
                                           Checkpoint{"q4_0", TinyModel::kGguf, LoadQuantization::kNone,
                                                      DType::kQ4_0}),
                         name_of_checkpoint);

}  // namespace
}  // namespace llmservice::testing
