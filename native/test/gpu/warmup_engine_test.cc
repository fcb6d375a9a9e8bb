// What a warm-up runs is what serving runs again: decodes replay the graphs that it left, and no bit changes.
#include "gpu_engine_support.h"
#include "warmup_support.h"

namespace llmservice::testing {
namespace {

class WarmedUpGpu : public GpuEngine {
 protected:
  // Together; only the first step computes more than one row of each.
  static std::vector<Request> decoding(int32_t batch) {
    std::vector<Request> requests;
    for (int32_t slot = 0; slot < batch; ++slot) requests.push_back(request(slot, 4 + slot, 4));
    return requests;
  }
};

TEST_P(WarmedUpGpu, DecodesReplayTheGraphsThatItLeft) {
  auto backend = gpu_backend(64);
  const Backend& counted = *backend;
  const auto engine = load(std::move(backend));
  for (const int32_t batch : {1, 3}) warm_up(*engine, {.batch = batch});
  for (const int32_t batch : {1, 3}) {
    const GraphCounts before = counted.graph_counts();
    const std::vector<Said> said = run_requests(*engine, decoding(batch), 0);
    const GraphCounts after = counted.graph_counts();
    EXPECT_EQ(after.captured, before.captured) << batch;
    // The prompts' step, and perhaps the reset of their states: its layers, its head.
    EXPECT_LE(after.direct - before.direct, 3u) << batch;
    // Three decodes: layers and head.
    EXPECT_GE(after.replayed - before.replayed, 6u) << batch;
    const std::vector<Said> expected = run_requests(*load_gpu(0), decoding(batch), 0);
    for (int32_t i = 0; i < batch; ++i) EXPECT_TRUE(said[i].same_as(expected[i])) << batch << " " << i;
  }
}

TEST_P(WarmedUpGpu, VerificationsReplayTheGraphsThatItLeft) {
  constexpr int32_t kDrafts = 3;
  const Request one = request(0, 10, 12);
  const Said expected = run_one(*load_gpu(0), one);
  auto backend = gpu_backend(64);
  const Backend& counted = *backend;
  auto oracle = std::make_unique<OracleDrafter>(truths_of({one}, {expected}), std::vector<int32_t>{3});
  auto* const drafter = oracle.get();
  const auto engine = load(std::move(backend), {DraftMethod::kNgram, kDrafts}, std::move(oracle));
  drafter->pause(true);
  for (int32_t accepted = 0; accepted <= (GetParam().hybrid() ? kDrafts : 0); ++accepted)
    warm_up(*engine, {.batch = 1, .drafts = kDrafts, .accepted = accepted});
  drafter->pause(false);
  const GraphCounts before = counted.graph_counts();
  const std::vector<Said> said = run_requests(*engine, {one}, kDrafts);
  EXPECT_TRUE(said.front().same_as(expected));
  // One token of the prompt's step, and ten of verifications by four; the last one has fewer drafts.
  EXPECT_GE(counted.graph_counts().replayed - before.replayed, 4u);
  EXPECT_EQ(counted.graph_counts().captured, before.captured);
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, WarmedUpGpu, kCheckpoints, name_of_checkpoint);

}  // namespace
}  // namespace llmservice::testing
