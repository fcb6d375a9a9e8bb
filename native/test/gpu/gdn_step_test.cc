// A step of Gated DeltaNet in one launch against the launches of its ops, bit for bit, and the launches that
// a whole layer takes where every op may take in what comes before or behind it.
#include "backends/gpu/backend.h"
#include "backends/gpu/kernels/fragment_tiles.h"
#include "gdn_support.h"

namespace llmservice::testing {
namespace {

// What one launch does, where run() has one for each op; `records`: what a product reads of it, if any does.
struct InOne {
  DType dtype = DType::kF8E4M3;
  bool settled = true;
  bool is_quantized = true;

  void expect_same_as_apart(const Layer& layer, const std::vector<std::vector<Segment>>& steps) const {
    const auto apart = layer.run(steps, true);
    const GdnShape& shape = layer.shape;
    const DeviceArray<float> input(layer.x), out(layer.rows * layer.width, NAN), tails(layer.conv),
        matrices(layer.s), weight(layer.conv_weight), gate(layer.gates), decay(layer.a_log),
        bias(layer.dt_bias), scale(layer.norm);
    const GdnState state{tails.data(), matrices.data()};
    const gpu::ActivationLayout layout{gpu::TileOrder::kFragments, dtype, gpu::kFragmentTokens,
                                       static_cast<int32_t>(layer.width)};
    const int64_t bytes = gpu::activation_bytes(layout, layer.rows);
    const DeviceArray<std::byte> records{std::vector<std::byte>(bytes)},
        expected{std::vector<std::byte>(bytes)};
    const gpu::Activations to{layout, records.data()};
    for (const auto& segments : steps) {
      const DeviceArray<Segment> list(segments);
      const DeviceArray<int32_t> readers(segments.size() * shape.k_heads, 0);
      gpu::StepSegments step{list.data(), static_cast<int32_t>(segments.size()), 0, 0};
      for (const Segment& segment : segments) step.max_rows = std::max(step.max_rows, segment.count);
      const auto launch = gpu::gdn_step(shape, step, {weight.data(), tails.data(), readers.data(), settled},
                                        input.data(), layer.stride, gate.data(), gate.data() + shape.v_heads,
                                        2 * shape.v_heads, decay.data(), bias.data(), state, out.data(),
                                        {input.data() + layer.channels, layer.stride, scale.data(), kEps},
                                        is_quantized ? &to : nullptr);
      ASSERT_TRUE(launch);
      testing::run(*launch);
      EXPECT_EQ(readers.host(), std::vector<int32_t>(segments.size() * shape.k_heads, 0));
    }
    expect_same_bits(input.host(), layer.x, "inputs");
    expect_same_bits(out.host(), apart.out, "out");
    expect_same_bits(matrices.host(), apart.s, "S");
    expect_same_bits(tails.host(), apart.conv, "conv tail");
    if (!is_quantized) return;
    testing::run(gpu::quantize({layout, expected.data()}, out.data(), layer.rows));
    EXPECT_EQ(records.host(), expected.host());
  }
};

// Rows of several sequences, with drafts of which some, all and none count, and three V heads to a K head.
TEST(GdnStep, SaysWhatConvolutionAndDeltaRuleSay) {
  Layer layer({2, 6, 128, 128, 4}, 30, 5);
  const std::vector<Segment> step = {{0, 1, 70, 2, nullptr, 64},
                                     {1, 5, 9, 0, nullptr, 0, 4},
                                     {6, 20, 2, 1, nullptr, 0},
                                     {26, 2, 64, 4, nullptr, 64, 2},
                                     {28, 2, 0, 3, nullptr, 0}};
  InOne{}.expect_same_as_apart(layer, {step});
  layer.shape.tiled = true;
  InOne{}.expect_same_as_apart(layer, {step});
  // A step behind another, each with the state that the one before left.
  const Layer single({1, 1, 128, 128, 4}, 3);
  for (const DType dtype : {DType::kBF16, DType::kF16, DType::kI8}) {
    InOne{dtype}.expect_same_as_apart(single, cut(3, 0, {1, 2}));
  }
  InOne{.settled = false, .is_quantized = false}.expect_same_as_apart(single, cut(3, 0, {1, 2}));
}

TEST(GdnStep, TakesNoStepInChunksAndNoOtherShape) {
  const auto takes = [](const GdnShape& shape, int32_t rows) {
    return gpu::gdn_step(shape, {nullptr, 1, rows, rows}, {nullptr, nullptr, nullptr, true}, nullptr,
                         channels_of(shape), nullptr, nullptr, 0, nullptr, nullptr, {}, nullptr, {}, nullptr)
        .has_value();
  };
  EXPECT_TRUE(takes({1, 3, 128, 128, 4}, 32));
  EXPECT_FALSE(takes({1, 3, 128, 128, 4}, 64));
  EXPECT_FALSE(takes({1, 3, 128, 128, 3}, 1));
  EXPECT_FALSE(takes({1, 3, 64, 128, 4}, 1));
  EXPECT_FALSE(takes({1, 3, 128, 64, 4}, 1));
}

// One layer's step as model/forward.cpp asks for it, and what the state is behind two of them.
class GdnLayer {
 public:
  static constexpr GdnShape kShape{.k_heads = 1, .v_heads = 2, .k_dim = 128, .v_dim = 128, .conv_kernel = 4};

  explicit GdnLayer(gpu::GpuBackend& backend) : backend_(backend) {
    const auto pack = [&](DType dtype, int64_t rows, int64_t cols, uint32_t seed) {
      const StoredMatrix stored = random_matrix(dtype, rows, cols, seed);
      const MatrixPart part = stored.part(0, rows);
      return backend.pack({&part, 1}, DType::kBF16, [](uint64_t) {});
    };
    qkvz_ = pack(DType::kF8E4M3, kStride, kHidden, 21);
    ba_ = pack(DType::kBF16, 4, kHidden, 22);
    out_ = pack(DType::kF8E4M3, kHidden, 256, 23);
    gate_up_ = pack(DType::kF8E4M3, 512, kHidden, 24);
    down_ = pack(DType::kF8E4M3, kHidden, 256, 25);
  }

  // All numbers that the steps leave. `apart`: each op by itself.
  std::vector<float> steps(bool apart) {
    const auto floats = [&](const std::vector<float>& values) {
      auto buffer = backend_.allocate(values.size() * sizeof(float));
      backend_.upload_now(std::as_bytes(std::span(values)), buffer->data());
      return buffer;
    };
    const auto of = [](const std::unique_ptr<Buffer>& buffer) { return static_cast<float*>(buffer->data()); };
    const auto random = [&](int64_t count, uint32_t seed) { return floats(random_floats(count, seed)); };
    const auto x = random(kRows * kHidden, 1), update = random(kRows * kHidden, 2), norm = random(kHidden, 3),
               conv = random(512 * 4, 4), heads = random(2, 5), head_norm = random(128, 6),
               tails = random(2 * 512 * 3, 7), s = random(2 * 2 * 128 * 128, 8);
    const auto room = [&](int64_t width) { return floats(std::vector<float>(kRows * width)); };
    const auto normed = room(kHidden), wide = room(kStride), gates = room(4), mixed = room(256),
               fed = room(512);
    const GdnState state{of(tails), of(s)};
    const std::vector<Segment> segments{{0, 1, 5, 1, nullptr, 0}, {1, 2, 9, 0, nullptr, 0, 1}};
    const auto then = [&] {
      if (apart) backend_.submit();
    };
    for (int step = 0; step < 2; ++step) {
      backend_.add_rms_norm(of(x), of(update), of(norm), 1e-6f, kRows, kHidden, of(normed), {});
      then();
      backend_.matmul(*ba_, of(normed), kRows, of(gates));
      then();
      backend_.matmul(*qkvz_, of(normed), kRows, of(wide));
      then();
      backend_.gdn_conv(kShape, segments, of(conv), of(wide), kStride, state);
      then();
      backend_.gdn(kShape, segments, of(wide), kStride, of(gates), of(gates) + 2, 4, of(heads), of(heads),
                   state, of(mixed), {of(wide) + 512, kStride, of(head_norm), 1e-6f});
      then();
      backend_.matmul(*out_, of(mixed), kRows, of(update));
      then();
      backend_.add_rms_norm(of(x), of(update), of(norm), 1e-6f, kRows, kHidden, of(normed), {});
      then();
      backend_.matmul(*gate_up_, of(normed), kRows, of(fed));
      then();
      backend_.silu_mul(of(fed), kRows, 256, of(mixed));
      then();
      backend_.matmul(*down_, of(mixed), kRows, of(update));
      backend_.submit();
    }
    std::vector<float> said;
    for (const auto* buffer : {&update, &x, &tails, &s, &mixed}) {
      std::ranges::copy(backend_.to_host(of(*buffer), (*buffer)->bytes() / sizeof(float)),
                        std::back_inserter(said));
    }
    return said;
  }

 private:
  static constexpr int64_t kRows = 3, kHidden = 256, kStride = 512 + 256;

  gpu::GpuBackend& backend_;
  std::unique_ptr<Matrix> qkvz_, ba_, out_, gate_up_, down_;
};

TEST(GdnStep, ALayerTakesNineLaunches) {
  using Names = std::vector<std::string>;
  Names launched;
  gpu::GpuBackend backend({.graphs = 0, .on_list = [&](gpu::Device&, const gpu::LaunchList& list) {
                             for (const gpu::Launch& launch : list.launches())
                               launched.emplace_back(launch.name);
                           }});
  GdnLayer layer(backend);
  backend.reserve({.rows = 64,
                   .sequences = 4,
                   .longest = 64,
                   .block_size = 16,
                   .result = 2 * 2 * 128 * 128,
                   .gdn = GdnLayer::kShape});
  const std::vector<float> apart = layer.steps(true);
  const Names each{"add_rms_norm",     "quantize",     "matmul_fragments", "quantize",
                   "matmul_fragments", "gdn_conv",     "gdn_recurrent",    "quantize",
                   "matmul_fragments", "add_rms_norm", "quantize",         "matmul_fragments",
                   "silu_mul",         "quantize",     "matmul_fragments"};
  EXPECT_EQ((Names{launched.begin(), launched.begin() + launched.size() / 2}), each);
  launched.clear();
  expect_same_bits(layer.steps(false), apart, "what two steps leave");
  const Names together{"add_rms_norm_quantize_both",
                       "matmul_fragments",
                       "matmul_fragments",
                       "gdn_step",
                       "matmul_fragments",
                       "add_rms_norm_quantize",
                       "matmul_fragments",
                       "silu_mul_quantize",
                       "matmul_fragments"};
  EXPECT_EQ((Names{launched.begin(), launched.begin() + launched.size() / 2}), together);
}

// Nothing that may still run as it begins may write S: not what its list has before it, be it the drafts that
// it replays or a state's copy. The list before has ended when this one's segments arrive.
TEST(GdnStep, ReadsAStateAheadOfItsWaitUnlessItsListMovesIt) {
  std::vector<std::vector<int32_t>> settled;  // of the steps of each list
  gpu::GpuBackend backend({.graphs = 0, .on_list = [&](gpu::Device&, const gpu::LaunchList& list) {
                             settled.emplace_back();
                             for (const gpu::Launch& launch : list.launches()) {
                               if (std::string(launch.name) != "gdn_step") continue;
                               settled.back().push_back(launch.argument<int32_t>(launch.count - 1));
                             }
                           }});
  const GdnShape shape = GdnLayer::kShape;
  const GdnLayer products(backend);
  backend.reserve({.rows = 64, .sequences = 4, .longest = 64, .block_size = 16, .result = 1, .gdn = shape});
  constexpr int64_t kChannels = 512, kTails = 2 * kChannels * 3, kMatrices = 2 * 2 * 128 * 128;
  const DeviceArray<float> wide(random_floats(kChannels, 1)), conv(random_floats(kChannels * 4, 2)),
      gates(random_floats(4, 3)), heads(random_floats(2, 4)), tails(2 * kTails, 0.0f), s(2 * kMatrices, 0.0f),
      mixed(256, 0.0f);
  const auto state = [&](int layer) {
    return GdnState{tails.data() + layer * kTails, s.data() + layer * kMatrices};
  };
  const std::vector<Segment> segments{{0, 1, 5, 0, nullptr, 0}};
  const auto step = [&](int layer) {
    backend.gdn_conv(shape, segments, conv.data(), wide.data(), kChannels, state(layer));
    backend.gdn(shape, segments, wide.data(), kChannels, gates.data(), gates.data() + 2, 4, heads.data(),
                heads.data(), state(layer), mixed.data(), {});
  };
  step(0);
  step(1);
  step(0);
  backend.submit();
  step(0);
  const std::vector<StateCopy> copies{{0, 1}};
  backend.gdn_copy(shape, copies, state(1));
  step(1);
  const std::vector<int32_t> slots{1};
  backend.gdn_reset(shape, slots, state(0));
  backend.submit();
  backend.gdn_reset(shape, slots, state(0));
  step(0);
  backend.submit();
  EXPECT_EQ(settled, (std::vector<std::vector<int32_t>>{{1, 1, 0}, {1, 0}, {0}}));
}

}  // namespace
}  // namespace llmservice::testing
