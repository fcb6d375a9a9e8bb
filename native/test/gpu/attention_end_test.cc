// What comes behind attention in the launch that puts its splits together, against each op by itself, bit for
// bit, and the launches that a whole layer takes.
#include "attention_support.h"
#include "backends/gpu/backend.h"
#include "backends/gpu/kernels/fragment_tiles.h"
#include "backends/gpu/kernels/rows.h"

namespace llmservice::testing {
namespace {

constexpr int32_t kEndLongest = 1024;  // more than one split, as steps have

struct EndCase {
  AttentionShape shape;
  int32_t tokens;
  float cap = 0;
  bool sinks = false;
};

class AttentionEnd : public ::testing::TestWithParam<EndCase> {};

TEST_P(AttentionEnd, GatesAndQuantizesAsTheOpsBehindIt) {
  const auto& [shape, tokens, cap, has_sinks] = GetParam();
  PagedSequence sequence(shape, tokens);
  sequence.write();
  const int64_t width = sequence.q_width();
  const DeviceArray<float> sinks(std::vector<float>(shape.heads, 0.5f));
  const ScoreRules rules{.cap = cap, .sinks = has_sinks ? sinks.data() : nullptr};
  // A token, drafts, and the first rows of a sequence.
  const std::vector<Piece> pieces = {{tokens - 1, 1}, {tokens - 9, 8}, {shape.first, 3}};
  std::vector<Segment> segments = sequence.segments(pieces);
  int64_t rows = 0;
  for (Segment& segment : segments) {
    segment.first = static_cast<int32_t>(rows);
    rows += segment.count;
  }
  const DeviceArray<Segment> list(segments);
  const gpu::StepSegments step{list.data(), static_cast<int32_t>(segments.size()), 8, kEndLongest};
  const DeviceArray<float> q(random_floats(rows * width, 1, 3.0f)), gate(random_floats(rows * 2 * width, 2)),
      workspace(gpu::attention_workspace(shape, rows, kEndLongest), NAN);
  for (const bool gated : {false, true}) {
    const gpu::HeadGates gates{gated ? gate.data() : nullptr, 2 * width};
    for (const DType dtype : {DType::kF8E4M3, DType::kBF16, DType::kF16, DType::kI8}) {
      const gpu::ActivationLayout layout{gpu::TileOrder::kFragments, dtype, gpu::kFragmentTokens,
                                         static_cast<int32_t>(width)};
      const int64_t bytes = gpu::activation_bytes(layout, rows);
      const DeviceArray<std::byte> made{std::vector<std::byte>(bytes)}, beside{std::vector<std::byte>(bytes)};
      const DeviceArray<float> out(rows * width, NAN), joined(rows * width, NAN);
      const gpu::Launches apart =
          gpu::attention(shape, step, q.data(), width, sequence.cache(), workspace.data(), out.data(), rules);
      ASSERT_EQ(apart.size(), 2u);
      for (const gpu::Launch& launch : apart) run(launch);
      if (gated) run(gpu::sigmoid_mul(out.data(), gate.data(), 2 * width, rows, width));
      run(gpu::quantize({layout, made.data()}, out.data(), rows));
      const gpu::Activations to{layout, beside.data()};
      const auto end = gpu::attention_end(shape, step, sequence.cache(), workspace.data(), joined.data(),
                                          rules, gates, &to);
      ASSERT_TRUE(end);
      run(*end);
      expect_same_bits(joined.host(), out.host(), "values");
      EXPECT_EQ(beside.host(), made.host()) << "records of " << name_of(dtype);
    }
  }
}

std::string name_of_end(const ::testing::TestParamInfo<EndCase>& info) {
  const AttentionShape& s = info.param.shape;
  return std::string(name_of(s.kv_dtype)) + "_" + std::to_string(s.heads) + "_heads_of_" +
         std::to_string(s.head_dim) + (s.window > 0 ? "_window" : "") + (s.first > 0 ? "_late" : "") +
         (info.param.cap > 0 ? "_capped" : "") + (info.param.sinks ? "_with_sinks" : "");
}

// Heads that divide a block of columns, that are two of it, and that do neither; rows that end within a tile.
INSTANTIATE_TEST_SUITE_P(Shapes, AttentionEnd,
                         ::testing::Values(EndCase{attention_shape(2, 1, 256, 64, DType::kBF16), 300},
                                           EndCase{attention_shape(3, 1, 128, 16, DType::kF8E4M3), 40},
                                           EndCase{attention_shape(1, 1, 512, 16, DType::kBF16), 20},
                                           EndCase{attention_shape(3, 3, 80, 16, DType::kBF16, 20), 70},
                                           EndCase{attention_shape(4, 2, 16, 16, DType::kF8E4M3, 0, 2), 300,
                                                   2.0f, true}),
                         name_of_end);

TEST(AttentionLayers, TakesNoStepWithPromptsNorOneOfManyTurns) {
  const auto takes = [](int32_t segments, int32_t rows, int32_t longest) {
    return gpu::attention_end(attention_shape(24, 4, 256, 64, DType::kBF16),
                              {nullptr, segments, rows, longest}, {}, nullptr, nullptr, {}, {}, nullptr)
        .has_value();
  };
  EXPECT_TRUE(takes(16, 8, 16'384));
  EXPECT_FALSE(takes(16, 16, 16'384));
  EXPECT_FALSE(takes(256, 4, 131'072));
  EXPECT_FALSE(takes(16, 8, 256));
}

// One layer's step as model/forward.cpp asks for it.
class AttentionLayer {
 public:
  static constexpr AttentionShape kShape{2, 1, 128, 16, DType::kBF16, 0.1f};
  static constexpr int64_t kHidden = 256, kWidth = 256, kStride = 2 * kWidth + 2 * 128, kRows = 3;

  explicit AttentionLayer(gpu::GpuBackend& backend) : backend_(backend) {
    const auto pack = [&](int64_t rows, int64_t cols, uint32_t seed) {
      const StoredMatrix stored = random_matrix(DType::kF8E4M3, rows, cols, seed);
      const MatrixPart part = stored.part(0, rows);
      return backend.pack({&part, 1}, DType::kBF16, [](uint64_t) {});
    };
    qkv_ = pack(kStride, kHidden, 21);
    o_ = pack(kHidden, kWidth, 22);
    gate_up_ = pack(512, kHidden, 23);
    down_ = pack(kHidden, 256, 24);
    backend.reserve({.rows = 64,
                     .sequences = 4,
                     .longest = 64,
                     .block_size = 16,
                     .result = kRows * kStride,
                     .attention = {kShape}});
  }

  // All numbers that the step leaves. `apart`: each op by itself.
  std::vector<float> step(bool apart, bool gated) {
    const DeviceArray<float> x(random_floats(kRows * kHidden, 1)), update(random_floats(kRows * kHidden, 2)),
        norm(random_floats(kHidden, 3)), angles(kRows * 8, 0.6f), normed(kRows * kHidden, 0.0f),
        wide(kRows * kStride, 0.0f), mixed(kRows * kWidth, 0.0f), fed(kRows * 512, 0.0f),
        opened(kRows * 256, 0.0f);
    const DeviceArray<uint16_t> k(4 * 16 * 128, uint16_t{0x3f00}), v(4 * 16 * 128, uint16_t{0x3f00});
    const std::vector<int32_t> blocks{0, 1, 2};  // two of the first sequence
    const std::vector<Segment> segments{{0, 1, 20, 0, blocks.data(), 0}, {1, 2, 3, 1, blocks.data() + 2, 0}};
    const KvCache cache{k.data(), v.data()};
    const NormRope rules{norm.data(), norm.data(), 1e-6f, 16, angles.data(), angles.data()};
    const auto then = [&] {
      if (apart) backend_.submit();
    };
    backend_.add_rms_norm(x.data(), update.data(), norm.data(), 1e-6f, kRows, kHidden, normed.data(), {});
    then();
    backend_.matmul(*qkv_, normed.data(), kRows, wide.data());
    then();
    float* const keys = wide.data() + 2 * kWidth;
    backend_.norm_rope_write(kShape, segments, rules, wide.data(), keys, keys + 128, kStride, cache);
    then();
    backend_.attention(kShape, segments, wide.data(), kStride, cache, mixed.data(), {});
    then();
    if (gated) backend_.sigmoid_mul(mixed.data(), wide.data() + kWidth, kStride, kRows, kWidth);
    then();
    backend_.matmul(*o_, mixed.data(), kRows, update.data());
    then();
    backend_.add_rms_norm(x.data(), update.data(), norm.data(), 1e-6f, kRows, kHidden, normed.data(), {});
    then();
    backend_.matmul(*gate_up_, normed.data(), kRows, fed.data());
    then();
    backend_.silu_mul(fed.data(), kRows, 256, opened.data());
    then();
    backend_.matmul(*down_, opened.data(), kRows, update.data());
    std::vector<float> said;
    for (const auto& [floats, count] :
         {std::pair{update.data(), kRows * kHidden}, {mixed.data(), kRows * kWidth}}) {
      std::ranges::copy(backend_.to_host(floats, count), std::back_inserter(said));
    }
    return said;
  }

 private:
  gpu::GpuBackend& backend_;
  std::unique_ptr<Matrix> qkv_, o_, gate_up_, down_;
};

TEST(AttentionLayers, ALayerTakesTenLaunches) {
  std::vector<std::string> launched;
  gpu::GpuBackend backend({.graphs = 0, .on_list = [&](gpu::Device&, const gpu::LaunchList& list) {
                             for (const gpu::Launch& launch : list.launches())
                               launched.emplace_back(launch.name);
                           }});
  AttentionLayer layer(backend);
  for (const bool gated : {true, false}) {
    const std::vector<float> apart = layer.step(true, gated);
    launched.clear();
    expect_same_bits(layer.step(false, gated), apart, gated ? "what a gated step leaves" : "without gates");
    const std::vector<std::string> together{
        "add_rms_norm_quantize",      "matmul_fragments", "norm_rope_write",       "attention_splits",
        "attention_combine_quantize", "matmul_fragments", "add_rms_norm_quantize", "matmul_fragments",
        "silu_mul_quantize",          "matmul_fragments"};
    EXPECT_EQ(launched, together);
  }
}

}  // namespace
}  // namespace llmservice::testing
