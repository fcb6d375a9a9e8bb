// Draft models on the GPU backend, EAGLE-3's and whole ones: they propose what they propose on the reference,
// and no bit of what is said changes with them.
#include "drafters_support.h"

namespace llmservice::testing {
namespace {

// Greedy ones and drawn ones, which join at different steps.
std::vector<Request> mixed() {
  std::vector<Request> requests = {request(0, 70, 6), request(1, 20, 6), request(2, 33, 4)};
  requests[1].admission.sampling = {.temperature = 1.1F, .seed = 11, .top_logprobs = 2};
  requests[1].joins_at = 1;
  requests[2].joins_at = 3;
  return requests;
}

void expect_same(const std::vector<Said>& said, const std::vector<Said>& expected, const char* what) {
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(said[i].same_as(expected[i])) << what << ", sequence " << i;
  }
}

// What each slot holds after its prompt.
std::vector<int32_t> proposals(Engine& engine) {
  StepPlan plan;
  for (int32_t slot = 0; slot < 4; ++slot) {
    const int32_t length = 9 + 17 * slot;
    plan.admit.push_back(request(slot, length, 8).admission);
    for (int32_t b = 0; b < kBlocksPerSlot; ++b) plan.blocks.push_back({slot, slot * kBlocksPerSlot + b});
    plan.rows.push_back({slot, length});
  }
  plan.drafts = kDrafts;
  std::vector<int32_t> all;
  for (const auto& [slot, tokens] : engine.step(plan).drafts) {
    all.insert(all.end(), tokens.begin(), tokens.end());
  }
  return all;
}

TEST_P(GpuDrafters, ProposeWhatTheReferenceProposesDrawnOnTheDeviceOrNot) {
  const auto expected = proposals(*drafting(std::make_unique<ReferenceBackend>()));
  const auto drawn = proposals(*drafting());
  ASSERT_EQ(expected.size(), 4U * kDrafts);
  ASSERT_EQ(drawn.size(), expected.size());
  // Of logits in BF16 a near tie may fall otherwise, and what follows it.
  int32_t same = 0;
  for (size_t i = 0; i < drawn.size(); ++i) same += drawn[i] == expected[i] ? 1 : 0;
  EXPECT_GE(same, 9) << "of " << drawn.size();
  EXPECT_EQ(proposals(*drafting(gpu_backend(64, false))), drawn);
}

TEST_P(GpuDrafters, ChangeNoBitWithGraphsAndWithout) {
  const auto expected = run_requests(*plain(), mixed(), 0);
  auto backend = gpu_backend();
  const Backend& counted = *backend;
  const auto engine = drafting(std::move(backend));
  expect_same(run_requests(*engine, mixed(), kDrafts), expected, "first");
  const GraphCounts before = counted.graph_counts();
  expect_same(run_requests(*engine, mixed(), kDrafts), expected, "again");
  EXPECT_GT(counted.graph_counts().replayed, before.replayed);
  expect_same(run_requests(*drafting(gpu_backend(0)), mixed(), kDrafts), expected, "without graphs");
}

TEST_P(GpuDrafters, DraftsOfOneSequenceReplayGraphs) {
  auto backend = gpu_backend();
  const Backend& counted = *backend;
  const auto engine = drafting(std::move(backend));
  const std::vector<Request> one = {request(0, 20, 12)};
  run_requests(*engine, one, kDrafts);
  run_requests(*engine, one, kDrafts);
  const GraphCounts before = counted.graph_counts();
  const int32_t steps = run_requests(*engine, one, kDrafts)[0].steps;
  const GraphCounts after = counted.graph_counts();
  EXPECT_EQ(after.captured, before.captured);
  // Of each decode: layers and head of the model, and as many again for each draft; the last have fewer.
  EXPECT_GE(after.replayed - before.replayed, 2U * (steps - 1 - kDrafts) * (1 + kDrafts));
}

TEST_P(GpuDrafters, ThatBeginFromSharedBlocksChangeNoBit) {
  const auto engine = drafting();
  const Request owner = request(0, 150, 8);
  StepPlan first;
  first.admit = {owner.admission};
  for (int32_t b = 0; b < kBlocksPerSlot; ++b) first.blocks.push_back({0, b});
  first.rows = {{0, 150}};
  first.drafts = kDrafts;
  if (GetParam().hybrid) first.saves = {{0, 128, 0}};
  engine->step(first);
  Request reader = owner;
  reader.admission.slot = 1;
  reader.admission.cached_tokens = 128;
  if (GetParam().hybrid) reader.admission.snapshot = 0;
  expect_same(run_requests(*engine, {reader}, kDrafts), run_requests(*plain(), {owner}, 0), "cached");
}

INSTANTIATE_TEST_SUITE_P(Drafters, GpuDrafters,
                         ::testing::Values(Drafting{"eagle3", false, DraftMethod::kEagle3},
                                           Drafting{"eagle3_hybrid", true, DraftMethod::kEagle3},
                                           Drafting{"draft_model_hybrid", true, DraftMethod::kDraftModel}),
                         name_of_drafting);

TEST(GpuDraftModel, OfTheModelsOwnWeightsIsAlwaysRight) {
  TempDir dir;
  write_checkpoint(dir, tiny_llama_config(), tiny_llama_tensors());
  EngineOptions options = room_for_four(dir, {DraftMethod::kDraftModel, kDrafts});
  options.dtype = DType::kBF16;
  options.head = dir.checkpoint();
  Engine engine(options, std::make_unique<gpu::GpuBackend>(gpu::GpuOptions{.device = 0, .graphs = 16}),
                [](auto, auto) {});
  // One token with the prompt's rows, then four a step.
  const std::vector<Request> both = {request(0, 20, 13), request(1, 70, 13)};
  for (const Said& said : run_requests(engine, both, kDrafts)) EXPECT_EQ(said.steps, 1 + 12 / 4);
}

}  // namespace
}  // namespace llmservice::testing
