// Ops that quantize what they put out, against the op and then quantize(): every bit of both.
#include "backends/gpu/kernels/quantize.h"

#include "backends/gpu/kernels/fragment_tiles.h"
#include "backends/gpu/kernels/rows.h"
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

  const DeviceArray<float> x(random_floats(rows * width, 6)), same_x(random_floats(rows * width, 6));
  run(gpu::sigmoid_mul(x.data(), gate_up.data(), 2 * width, rows, width));
  run(gpu::sigmoid_mul(to(), same_x.data(), gate_up.data(), 2 * width, rows));
  expect_same(x, same_x);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, QuantizeTest,
    ::testing::Combine(::testing::Values(Wanted{TileOrder::kFragments, DType::kF8E4M3, gpu::kFragmentTokens},
                                         Wanted{TileOrder::kSwizzled, DType::kF8E4M3, 8},
                                         Wanted{TileOrder::kFragments, DType::kBF16, gpu::kFragmentTokens},
                                         Wanted{TileOrder::kSwizzled, DType::kF16, 16}),
                       ::testing::Values(32, 128, 328, 1600)));

}  // namespace
}  // namespace llmservice::testing
