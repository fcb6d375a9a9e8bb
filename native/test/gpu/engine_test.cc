// Whole engines on the GPU backend: what it says is what the reference says, and no way of running the same
// sequences changes a bit of it.
#include "gpu_engine_support.h"

namespace llmservice::testing {
namespace {

constexpr int32_t kDrafts = 3;

TEST_P(GpuEngine, SaysWhatTheReferenceSays) {
  const Request one = request(0, 70, 12);
  const Said expected = run_one(*load(std::make_unique<ReferenceBackend>()), one);
  const Said said = run_one(*load_gpu(), one);
  // Eight-bit activations move the logits of so small a model by tenths; a wrong one moves them by several
  // units.
  const float tolerance = GetParam().quantization == LoadQuantization::kNone ? 0.08f : 0.8f;
  float sum = 0;
  size_t same = 0;
  for (; same < expected.tokens.size() && said.tokens[same] == expected.tokens[same]; ++same) {
    EXPECT_NEAR(said.logprobs[same], expected.logprobs[same], tolerance) << "token " << same;
    sum += std::fabs(said.logprobs[same] - expected.logprobs[same]);
  }
  EXPECT_GT(same, 0u);
  EXPECT_LT(sum, static_cast<float>(same) * tolerance / 3) << "on average";
  // From here on the two tell different stories: this must have been a near tie.
  if (same < expected.tokens.size()) {
    EXPECT_LT(expected.top_logprobs[2 * same] - expected.top_logprobs[2 * same + 1], tolerance);
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

INSTANTIATE_TEST_SUITE_P(Checkpoints, GpuEngine, kCheckpoints, name_of_checkpoint);

}  // namespace
}  // namespace llmservice::testing
