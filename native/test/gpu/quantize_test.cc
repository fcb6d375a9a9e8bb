// quantize() against its definition, and ops that quantize what they put out against the op and then
// quantize(): every bit of both.
#include "backends/gpu/kernels/quantize.h"

#include "backends/gpu/kernels/fragment_tiles.h"
#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/kernels/rows.h"
#include "backends/gpu/kernels/tiles.h"
#include "gpu_support.h"

namespace llmservice::testing {
namespace {

using gpu::Activations;
using gpu::Launch;
using gpu::TileOrder;

struct Wanted {
  TileOrder order;
  DType dtype;
  int32_t block_rows;
};

class QuantizeTest : public ::testing::TestWithParam<std::tuple<Wanted, int32_t>> {
 protected:
  const Wanted wanted = std::get<0>(GetParam());
  const int32_t width = std::get<1>(GetParam());
  const int64_t rows = 11;  // more than a block of eight
  const gpu::ActivationLayout layout{wanted.order, wanted.dtype, wanted.block_rows, width};
  const DeviceArray<std::byte> apart{std::vector<std::byte>(gpu::activation_bytes(layout, rows))};
  const DeviceArray<std::byte> beside{std::vector<std::byte>(gpu::activation_bytes(layout, rows))};

  // `made` by an op of its own, then quantized; `fused` by one that did both.
  void expect_same(const DeviceArray<float>& made, const DeviceArray<float>& fused) {
    run(gpu::quantize({layout, apart.data()}, made.data(), rows));
    expect_same_bits(fused.host(), made.host(), "values");
    EXPECT_EQ(beside.host(), apart.host());
  }
  Activations to() { return {layout, beside.data()}; }
};

TEST_P(QuantizeTest, AddsThenNorms) {
  const DeviceArray<float> x(random_floats(rows * width, 1)), same_x(random_floats(rows * width, 1));
  const DeviceArray<float> y(random_floats(rows * width, 2)), weight(random_floats(width, 3));
  const DeviceArray<float> made(rows * width, NAN), fused(rows * width, NAN);
  run(gpu::add_rms_norm(x.data(), y.data(), weight.data(), 1e-6f, rows, width, made.data(), {}));
  run(gpu::add_rms_norm(to(), same_x.data(), y.data(), weight.data(), 1e-6f, rows, fused.data(), {}));
  expect_same_bits(same_x.host(), x.host(), "residual");
  expect_same(made, fused);

  run(gpu::add_layer_norm(x.data(), y.data(), weight.data(), 1e-6f, rows, width, made.data(), {}));
  run(gpu::add_layer_norm(to(), same_x.data(), y.data(), weight.data(), 1e-6f, rows, fused.data(), {}));
  expect_same_bits(same_x.host(), x.host(), "residual of the norm around the mean");
  expect_same(made, fused);
}

// BF16 beside any type that has scales, whichever of the two comes first.
TEST_P(QuantizeTest, NormsForTwoProducts) {
  const DeviceArray<float> x(random_floats(rows * width, 1)), same_x(random_floats(rows * width, 1));
  const DeviceArray<float> y(random_floats(rows * width, 2)), weight(random_floats(width, 3));
  const DeviceArray<float> made(rows * width, NAN), fused(rows * width, NAN);
  const gpu::ActivationLayout halves{layout.order, DType::kBF16, layout.block_rows, width};
  const auto records = [&] {
    return DeviceArray<std::byte>{std::vector<std::byte>(gpu::activation_bytes(halves, rows))};
  };
  const auto halves_apart = records(), halves_beside = records();
  const Activations also{halves, halves_beside.data()};
  const auto norm = [&](const Activations& one, const Activations& other) {
    return gpu::add_rms_norm(one, other, same_x.data(), y.data(), weight.data(), 1e-6f, rows, fused.data(),
                             {});
  };
  const auto launch = norm(to(), also);
  ASSERT_EQ(launch.has_value(), gpu::has_token_scales(wanted.dtype) && width % 4 == 0);
  if (!launch) return;
  EXPECT_EQ(*norm(also, to()), *launch);
  run(gpu::add_rms_norm(x.data(), y.data(), weight.data(), 1e-6f, rows, width, made.data(), {}));
  run(*launch);
  expect_same_bits(same_x.host(), x.host(), "residual");
  expect_same(made, fused);
  run(gpu::quantize({halves, halves_apart.data()}, made.data(), rows));
  EXPECT_EQ(halves_beside.host(), halves_apart.host());
}

// A row with a non-finite value marks itself, and its neighbours are unharmed.
TEST_P(QuantizeTest, MarksFaults) {
  std::vector<float> values = random_floats(rows * width, 1);
  values[width + width / 2] = NAN;
  std::vector<float> weights = random_floats(width, 3);
  weights[width - 1] = INFINITY;
  const DeviceArray<float> x(values), same_x(values), weight(weights);
  const DeviceArray<float> made(rows * width, 0.0f), fused(rows * width, 0.0f);
  const DeviceArray<int32_t> marks(rows, 0), same_marks(rows, 0);
  run(gpu::add_rms_norm(x.data(), nullptr, weight.data(), 1e-6f, rows, width, made.data(),
                        {marks.data(), 5}));
  run(gpu::add_rms_norm(to(), same_x.data(), nullptr, weight.data(), 1e-6f, rows, fused.data(),
                        {same_marks.data(), 5}));
  run(gpu::quantize({layout, apart.data()}, made.data(), rows));
  EXPECT_EQ(marks.host()[1], 5);
  EXPECT_EQ(marks.host()[0], 6);
  EXPECT_EQ(same_marks.host(), marks.host());
  EXPECT_EQ(beside.host(), apart.host());
}

TEST_P(QuantizeTest, Gates) {
  const DeviceArray<float> gate_up(random_floats(rows * 2 * width, 5, 4.0f));
  const DeviceArray<float> made(rows * width, NAN), fused(rows * width, NAN);
  run(gpu::silu_mul(gate_up.data(), rows, width, made.data()));
  run(gpu::silu_mul(to(), gate_up.data(), rows, fused.data()));
  expect_same(made, fused);
  run(gpu::silu_mul(to(), gate_up.data(), rows, nullptr));
  EXPECT_EQ(beside.host(), apart.host()) << "nowhere but in the product's activations";

  run(gpu::gelu_mul(gate_up.data(), rows, width, made.data()));
  run(gpu::gelu_mul(to(), gate_up.data(), rows, fused.data()));
  expect_same(made, fused);

  run(gpu::erf_gelu_mul(gate_up.data(), rows, width, made.data()));
  run(gpu::erf_gelu_mul(to(), gate_up.data(), rows, fused.data()));
  expect_same(made, fused);

  const DeviceArray<float> x(random_floats(rows * width, 6)), same_x(random_floats(rows * width, 6));
  run(gpu::sigmoid_mul(x.data(), gate_up.data(), 2 * width, rows, width));
  run(gpu::sigmoid_mul(to(), same_x.data(), gate_up.data(), 2 * width, rows));
  expect_same(x, same_x);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, QuantizeTest,
    ::testing::Combine(::testing::Values(Wanted{TileOrder::kFragments, DType::kF8E4M3, gpu::kFragmentTokens},
                                         Wanted{TileOrder::kSwizzled, DType::kF8E4M3, 8},
                                         Wanted{TileOrder::kFragments, DType::kI8, gpu::kFragmentTokens},
                                         Wanted{TileOrder::kFragments, DType::kBF16, gpu::kFragmentTokens},
                                         Wanted{TileOrder::kSwizzled, DType::kF16, 16}),
                       ::testing::Values(32, 128, 328, 510, 1600, 5120, 8456)));

// Magnitudes from below the smallest code to the largest, both signs, zeros, and a row of values that are
// subnormal.
TEST(Quantize, RoundsAsTheHostDoes) {
  constexpr int32_t kRows = 8, kWidth = 260;
  std::vector<float> values = random_floats(kRows * kWidth, 8);
  for (size_t i = 0; i < values.size(); ++i) values[i] *= std::exp2(static_cast<float>(i % 23) - 16.0f);
  std::fill_n(values.begin() + 3, 5, -0.0f);
  std::fill_n(values.begin() + kWidth, kWidth, -1e-40f);
  const gpu::ActivationLayout layout{TileOrder::kSwizzled, DType::kF8E4M3, kRows, kWidth};
  const DeviceArray<float> x(values);
  const DeviceArray<std::byte> records(std::vector<std::byte>(gpu::activation_bytes(layout, kRows)));
  run(gpu::quantize({layout, records.data()}, x.data(), kRows));
  const std::vector<std::byte> written = records.host();
  for (int32_t row = 0; row < kRows; ++row) {
    for (int32_t tile = 0; tile * 128 < kWidth; ++tile) {
      const std::byte* const record = written.data() + tile * gpu::record_bytes(layout);
      const float* const from = values.data() + row * kWidth + tile * 128;
      const int32_t there = std::min(128, kWidth - tile * 128);
      float largest = 1e-30f;
      for (int32_t i = 0; i < there; ++i) largest = std::max(largest, std::fabs(from[i]));
      float scale;
      std::memcpy(&scale, record + kRows * 128 + row * sizeof scale, sizeof scale);
      EXPECT_EQ(scale, largest / gpu::kFp8Max);
      for (int32_t i = 0; i < 128; ++i) {
        const float value = i < there ? from[i] * (gpu::kFp8Max / largest) : 0.0f;
        EXPECT_EQ(std::to_integer<uint8_t>(record[gpu::swizzled_offset(row, i)]), gpu::float_to_fp8(value))
            << value;
      }
    }
  }
}

}  // namespace
}  // namespace llmservice::testing
