// Whole engines with LoRA adapters on the GPU backend: what they say is what the reference says, whoever runs
// beside a sequence changes no bit of it, and what an adapter takes of the device goes with it.
#include "adapter_support.h"
#include "failures.h"
#include "gpu_engine_support.h"

namespace llmservice::testing {
namespace {

constexpr int32_t kSequences = 16;
// Of each kind of product of the tiny llama, in each of its layers, two launches.
constexpr size_t kLowRankLaunches = 2 * 4 * 2;

class AdaptersOnGpu : public GpuEngine {
 protected:
  std::unique_ptr<Engine> load_with(std::unique_ptr<Backend> backend, int32_t max_rank = 16) const {
    EngineOptions options = room_for_four(dir_, {});
    options.dtype = DType::kBF16;
    options.checkpoint = dir_.checkpoint(GetParam().quantization);
    options.max_num_seqs = kSequences;
    options.num_blocks = kSequences * kBlocksPerSlot;
    options.max_num_batched_tokens = 1024;
    options.max_adapter_rank = max_rank;
    return std::make_unique<Engine>(options, std::move(backend), [](auto, auto) {});
  }
  std::unique_ptr<Engine> load_with_two(std::unique_ptr<Backend> backend) const {
    auto engine = load_with(std::move(backend));
    engine->load_adapter(tiny_adapter(dir_, 1, 8));
    engine->load_adapter(tiny_adapter(dir_, 2, 13));
    return engine;
  }
  static Request adapted(int32_t slot, int32_t length, int32_t generate, int32_t adapter) {
    Request one = request(slot, length, generate);
    one.admission.adapter = adapter;
    return one;
  }
};

TEST_P(AdaptersOnGpu, SayWhatTheReferenceSays) {
  const auto reference = load_with_two(std::make_unique<ReferenceBackend>());
  const auto engine = load_with_two(gpu_backend());
  const float tolerance = GetParam().quantization == LoadQuantization::kFp8 ? 0.8f : 0.08f;
  std::vector<std::vector<int32_t>> all;
  for (const int32_t adapter : {0, 1, 2}) {
    const Said expected = run_one(*reference, adapted(0, 70, 6, adapter));
    const Said said = run_one(*engine, adapted(0, 70, 6, adapter));
    size_t same = 0;
    for (; same < expected.tokens.size() && said.tokens[same] == expected.tokens[same]; ++same) {
      EXPECT_NEAR(said.logprobs[same], expected.logprobs[same], tolerance) << adapter << ", token " << same;
    }
    // From here on the two diverge: this must have been a near tie of as likely tokens.
    if (same < expected.tokens.size()) {
      EXPECT_LT(expected.top_logprobs[2 * same] - expected.top_logprobs[2 * same + 1], tolerance) << adapter;
    }
    all.push_back(expected.tokens);
  }
  EXPECT_TRUE(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]) << "adapters change what is said";
}

TEST_P(AdaptersOnGpu, SixteenSequencesOfTwoAndNoneAreEachAsAlone) {
  std::vector<Request> requests;
  for (int32_t i = 0; i < kSequences; ++i) {
    requests.push_back(adapted(i, std::array{1, 7, 16, 17, 40, 64}[i % 6], 3 + i % 3, i % 3));
    requests.back().joins_at = i / 6;
    requests.back().chunk = 32;
  }
  auto backend = gpu_backend(64);
  const Backend& counted = *backend;
  const auto engine = load_with_two(std::move(backend));
  const std::vector<Said> together = run_requests(*engine, requests, 0);
  EXPECT_GT(counted.graph_counts().replayed + counted.graph_counts().direct, 0u);
  for (size_t i = 0; i < requests.size(); ++i) {
    Request alone = requests[i];
    alone.joins_at = 0;
    EXPECT_TRUE(run_one(*engine, alone).same_as(together[i])) << "sequence " << i;
  }
  const auto plain = load_with_two(gpu_backend(0));
  const std::vector<Said> without_graphs = run_requests(*plain, requests, 0);
  for (size_t i = 0; i < requests.size(); ++i)
    EXPECT_TRUE(without_graphs[i].same_as(together[i])) << "sequence " << i << " without graphs";
}

// Which adapters a decode has is in its lists, not in its launches.
TEST_P(AdaptersOnGpu, DecodesOfOtherAdaptersReplayTheSameGraphs) {
  auto backend = gpu_backend(64);
  const Backend& counted = *backend;
  const auto engine = load_with_two(std::move(backend));
  for (int again = 0; again < 2; ++again)
    run_requests(*engine, {adapted(0, 20, 4, 1), adapted(1, 20, 4, 2)}, 0);
  const GraphCounts before = counted.graph_counts();
  run_requests(*engine, {adapted(0, 20, 4, 2), adapted(1, 20, 4, 1)}, 0);
  EXPECT_EQ(counted.graph_counts().captured, before.captured);
  EXPECT_GE(counted.graph_counts().replayed, before.replayed + 3);
}

TEST_P(AdaptersOnGpu, StepsWithoutThemLaunchNothingMore) {
  std::vector<size_t> launches;
  size_t low_rank = 0;
  const auto engine = load_with_two(std::make_unique<gpu::GpuBackend>(
      gpu::GpuOptions{.graphs = 0, .on_list = [&](gpu::Device&, const gpu::LaunchList& list) {
                        for (const gpu::Launch& launch : list.launches())
                          low_rank += std::string(launch.name).starts_with("low_rank");
                      }}));
  run_one(*engine, adapted(0, 5, 3, 0));
  EXPECT_EQ(low_rank, 0u);
  run_one(*engine, adapted(0, 5, 3, 1));
  EXPECT_EQ(low_rank, 3 * kLowRankLaunches);
}

// As the memory plan has it: checkpoint/src/memory/device-memory.test.ts has the same numbers.
TEST_P(AdaptersOnGpu, TakeWhatThePlanSaysAndGiveItBack) {
  auto backend = gpu_backend();
  const Backend& device = *backend;
  const auto engine = load_with(std::move(backend));
  const auto taken = [&] { return device.room()->own; };
  {
    auto other = gpu_backend();
    const Backend& without = *other;
    const auto none = load_with(std::move(other), 0);
    EXPECT_EQ(taken() - without.room()->own, 1'605'632u) << "between both products, and lists of rows";
  }
  const uint64_t before = taken();
  engine->load_adapter(tiny_adapter(dir_, 1, 16));
  EXPECT_EQ(taken() - before, 60'928u);
  engine->load_adapter(tiny_adapter(dir_, 2, 16));
  EXPECT_EQ(taken() - before, 2 * 60'928u);
  const Said said = run_one(*engine, adapted(0, 20, 3, 1));
  engine->unload_adapter(2);
  EXPECT_TRUE(run_one(*engine, adapted(0, 20, 3, 1)).same_as(said));
  engine->unload_adapter(1);
  EXPECT_EQ(taken(), before);
  std::string message;
  AdapterPart cut = tiny_adapter(dir_, 3, 16);
  cut.pairs.back().b_offset += 1 << 20;
  EXPECT_EQ(failure_of([&] { engine->load_adapter(cut); }, &message), "CheckpointCorrupt");
  EXPECT_EQ(taken(), before) << "of what failed nothing is left";
  EXPECT_EQ(failure_of([&] { engine->load_adapter(tiny_adapter(dir_, 3, 17)); }, &message),
            "InvalidEngineConfig");
  EXPECT_TRUE(contains(message, "room for ranks 1 to 16 (engine.maxAdapterRank)")) << message;
  engine->load_adapter(tiny_adapter(dir_, 1, 16));
  EXPECT_TRUE(run_one(*engine, adapted(0, 20, 3, 1)).same_as(said));
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, AdaptersOnGpu,
                         ::testing::Values(Checkpoint{"llama", TinyModel::kLlama, LoadQuantization::kNone},
                                           Checkpoint{"llama_fp8", TinyModel::kLlama,
                                                      LoadQuantization::kFp8}),
                         name_of_checkpoint);

}  // namespace
}  // namespace llmservice::testing
