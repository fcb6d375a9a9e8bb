// Row kernels against the scalar reference, at widths below, at and across a block's reach.
#include "backends/gpu/kernels/rows.h"

#include "gpu_support.h"

namespace llmservice::testing {
namespace {

// expf and sums in another order than the reference's.
constexpr float kTolerance = 3e-6f;

class RowsTest : public ::testing::TestWithParam<int64_t> {
 protected:
  const int64_t width = GetParam();
  const int64_t rows = 3;
  ReferenceBackend reference;
  const std::vector<float> x = random_floats(rows * width, 1);
  const std::vector<float> y = random_floats(rows * width, 2);
  const std::vector<float> weight = random_floats(width, 3);
};

TEST_P(RowsTest, NormsRows) {
  std::vector<float> expected(rows * width);
  reference.rms_norm(x.data(), weight.data(), 1e-6f, rows, width, expected.data());
  const DeviceArray<float> in(x), scale(weight), out(rows * width, NAN);
  run(gpu::rms_norm(in.data(), scale.data(), 1e-6f, rows, width, out.data()));
  expect_close(out.host(), expected, kTolerance, "rms_norm");
}

TEST_P(RowsTest, AddsThenNorms) {
  std::vector<float> sum = x;
  std::vector<float> expected(rows * width);
  reference.add_rms_norm(sum.data(), y.data(), weight.data(), 1e-6f, rows, width, expected.data(), {});
  const DeviceArray<float> residual(x), update(y), scale(weight), out(rows * width, NAN);
  run(gpu::add_rms_norm(residual.data(), update.data(), scale.data(), 1e-6f, rows, width, out.data(), {}));
  expect_same_bits(residual.host(), sum, "residual");
  expect_close(out.host(), expected, kTolerance, "out");
}

// Far from a mean of 0, apart and in place.
TEST_P(RowsTest, AddsThenNormsAroundTheMean) {
  std::vector<float> sum(rows * width);
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = x[i] + 7;
  std::vector<float> expected(rows * width);
  const DeviceArray<float> residual(sum), update(y), scale(weight), out(rows * width, NAN);
  reference.add_layer_norm(sum.data(), y.data(), weight.data(), 1e-5f, rows, width, expected.data(), {});
  run(gpu::add_layer_norm(residual.data(), update.data(), scale.data(), 1e-5f, rows, width, out.data(), {}));
  expect_same_bits(residual.host(), sum, "residual");
  // The mean is off by a few times 2^-24 of 7, which small deviations magnify.
  expect_close(out.host(), expected, 4 * kTolerance, "out");
  run(gpu::add_layer_norm(residual.data(), nullptr, scale.data(), 1e-5f, rows, width, residual.data(), {}));
  expect_same_bits(residual.host(), out.host(), "in place");
}

TEST_P(RowsTest, ARowIsTheSameAmongOthers) {
  const DeviceArray<float> in(x), scale(weight), out(rows * width, NAN), alone(width, NAN);
  run(gpu::rms_norm(in.data(), scale.data(), 1e-6f, rows, width, out.data()));
  run(gpu::rms_norm(in.data() + width, scale.data(), 1e-6f, 1, width, alone.data()));
  const std::vector<float> all = out.host();
  expect_same_bits(alone.host(), std::span(all).subspan(width, width), "row 1");
}

TEST_P(RowsTest, AddsBiasAndGated) {
  std::vector<float> expected = x;
  reference.add_bias(expected.data(), weight.data(), rows, width);
  const std::vector<float> gates = random_floats(rows, 4);
  reference.add_gated(expected.data(), y.data(), gates.data(), rows, width);
  const DeviceArray<float> out(x), bias(weight), added(y), gate(gates);
  run(gpu::add_bias(out.data(), bias.data(), rows, width));
  run(gpu::add_gated(out.data(), added.data(), gate.data(), rows, width));
  reference.add_gated(expected.data(), y.data(), nullptr, rows, width);
  run(gpu::add_gated(out.data(), added.data(), nullptr, rows, width));
  expect_close(out.host(), expected, kTolerance, "out");
}

TEST_P(RowsTest, Gates) {
  const std::vector<float> gate_up = random_floats(rows * 2 * width, 5, 4.0f);
  std::vector<float> expected(rows * width);
  reference.silu_mul(gate_up.data(), rows, width, expected.data());
  reference.sigmoid_mul(expected.data(), gate_up.data() + width, 2 * width, rows, width);
  const DeviceArray<float> both(gate_up), out(rows * width, NAN);
  run(gpu::silu_mul(both.data(), rows, width, out.data()));
  run(gpu::sigmoid_mul(out.data(), both.data() + width, 2 * width, rows, width));
  expect_close(out.host(), expected, kTolerance, "out");
}

TEST_P(RowsTest, GatesByGelu) {
  const std::vector<float> gate_up = random_floats(rows * 2 * width, 5, 12.0f);
  std::vector<float> expected(rows * width);
  reference.gelu_mul(gate_up.data(), rows, width, expected.data());
  const DeviceArray<float> both(gate_up), out(rows * width, NAN);
  run(gpu::gelu_mul(both.data(), rows, width, out.data()));
  expect_close(out.host(), expected, kTolerance, "out");
}

// Far into both tails.
TEST_P(RowsTest, GatesByGeluWithoutApproximation) {
  const std::vector<float> gate_up = random_floats(rows * 2 * width, 5, 12.0f);
  std::vector<float> expected(rows * width);
  reference.erf_gelu_mul(gate_up.data(), rows, width, expected.data());
  const DeviceArray<float> both(gate_up), out(rows * width, NAN);
  run(gpu::erf_gelu_mul(both.data(), rows, width, out.data()));
  expect_close(out.host(), expected, kTolerance, "out");
}

TEST_P(RowsTest, ScalesAndCaps) {
  std::vector<float> expected = random_floats(rows * width, 6, 40.0f);
  const DeviceArray<float> out(expected);
  reference.scale(expected.data(), rows * width, 1.75f);
  reference.cap(expected.data(), rows * width, 30);
  run(gpu::scale(out.data(), rows * width, 1.75f));
  run(gpu::cap(out.data(), rows * width, 30));
  expect_close(out.host(), expected, kTolerance, "out");
}

TEST_P(RowsTest, ScalesTheWeightsOfExperts) {
  const std::vector<float> scales = random_floats(width, 7);
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < rows * 2; ++i) ids.push_back(static_cast<int32_t>(i * 5 % width));
  std::vector<float> expected = random_floats(rows * 2, 8);
  const DeviceArray<float> weights(expected), factors(scales);
  const DeviceArray<int32_t> chosen(ids);
  run(gpu::scale_routes({chosen.data(), weights.data()}, factors.data(), rows * 2));
  reference.scale_routes({.experts = static_cast<int32_t>(width), .top_k = 2}, scales.data(), rows,
                         {ids.data(), expected.data()});
  expect_same_bits(weights.host(), expected, "weights");
}

TEST_P(RowsTest, TakesAndCopiesRows) {
  const std::vector<int32_t> ids = {2, kNoRow, 0, 2};
  std::vector<float> expected(ids.size() * width);
  reference.take_rows(x.data(), ids, width, expected.data());
  const DeviceArray<float> from(x), out(expected.size(), NAN);
  const DeviceArray<int32_t> list(ids);
  run(gpu::take_rows(from.data(), list.data(), 4, width, out.data()));
  expect_same_bits(out.host(), expected, "take_rows");

  const std::vector<RowCopy> copies = {{.from = 2, .to = 0}, {.from = 0, .to = 2}};
  std::vector<float> target(rows * 2 * width, 7.0f);
  const DeviceArray<float> to(target);
  const DeviceArray<RowCopy> pairs(copies);
  reference.copy_rows(copies, x.data(), width, width, target.data(), 2 * width);
  run(gpu::copy_rows(pairs.data(), 2, from.data(), width, width, to.data(), 2 * width));
  expect_same_bits(to.host(), target, "copy_rows");
}

// More columns than a row has, as a draft vocabulary becomes the model's.
TEST_P(RowsTest, TakesColumns) {
  std::vector<int32_t> columns(2 * width + 3, kNoRow);
  for (int64_t i = 0; i < width; ++i) columns[2 * i + 1] = static_cast<int32_t>((i * 7 + 3) % width);
  const auto count = static_cast<int64_t>(columns.size());
  std::vector<float> expected(rows * count);
  reference.take_columns(x.data(), rows, width, columns.data(), count, -1e30f, expected.data());
  const DeviceArray<float> from(x), out(expected.size(), NAN);
  const DeviceArray<int32_t> list(columns);
  run(gpu::take_columns(from.data(), rows, width, list.data(), count, -1e30f, out.data()));
  expect_same_bits(out.host(), expected, "take_columns");
}

TEST_P(RowsTest, MarksTheFirstFaultOfARow) {
  // Sound; bad by what is added; bad by the norm alone; bad, but seen before.
  std::vector<float> residual = random_floats(4 * width, 1);
  std::vector<float> update(4 * width, 0.0f);
  std::vector<float> scale = weight;
  update[2 * width - 1] = INFINITY;
  residual[4 * width - 1] = NAN;
  for (const bool bad_norm : {false, true}) {
    if (bad_norm) scale[width / 2] = NAN;
    const DeviceArray<float> centered(residual), factor(scale), to_add(update), normed(4 * width, NAN);
    const DeviceArray<int32_t> marks(std::vector<int32_t>{0, 0, 0, 3});
    run(gpu::add_layer_norm(centered.data(), to_add.data(), factor.data(), 1e-6f, 4, width, normed.data(),
                            {marks.data(), 5}));
    std::vector<int32_t> expected = {0, 0, 0, 3};
    std::vector<float> x_expected = residual, out_expected(4 * width);
    reference.add_rms_norm(x_expected.data(), update.data(), scale.data(), 1e-6f, 4, width,
                           out_expected.data(), {expected.data(), 5});
    const DeviceArray<float> in(residual), added(update), factors(scale), out(4 * width, NAN);
    const DeviceArray<int32_t> first(std::vector<int32_t>{0, 0, 0, 3});
    run(gpu::add_rms_norm(in.data(), added.data(), factors.data(), 1e-6f, 4, width, out.data(),
                          {first.data(), 5}));
    EXPECT_EQ(first.host(), expected);
    EXPECT_EQ(marks.host(), expected) << "of the norm around the mean";
    EXPECT_EQ(expected, bad_norm ? (std::vector<int32_t>{6, 5, 6, 3}) : (std::vector<int32_t>{0, 5, 0, 3}));
  }
}

TEST_P(RowsTest, ALargeRowIsNoFault) {
  const DeviceArray<float> in(width, 1e30f), factors(weight), out(width, NAN);
  const DeviceArray<int32_t> first(1, 0);
  run(gpu::add_rms_norm(in.data(), nullptr, factors.data(), 1e-6f, 1, width, out.data(), {first.data(), 5}));
  EXPECT_EQ(first.host(), std::vector<int32_t>{0});
}

INSTANTIATE_TEST_SUITE_P(Widths, RowsTest, ::testing::Values(1, 31, 64, 255, 257, 1024, 2052, 8192, 9220));

// Angles of up to 262,144 are far beyond what a short reduction of the argument is right for.
TEST(RopeAngles, AreThoseOfTheReference) {
  const std::vector<int32_t> positions = {0, 1, 63, 4095, 131071, 262143};
  const std::vector<float> frequencies = {1.0f, 0.31622776f, 1e-3f, 1e-7f, 0.99f};
  const size_t count = positions.size() * frequencies.size();
  std::vector<float> cos(count), sin(count);
  ReferenceBackend().rope_angles(positions, frequencies.data(), 5, 1.25f, cos.data(), sin.data());
  const DeviceArray<int32_t> rows(positions);
  const DeviceArray<float> turns(frequencies), c(count, NAN), s(count, NAN);
  run(gpu::rope_angles(rows.data(), 6, turns.data(), 5, 1.25f, c.data(), s.data()));
  expect_close(c.host(), cos, 2.5e-7f, "cos");
  expect_close(s.host(), sin, 2.5e-7f, "sin");
}

}  // namespace
}  // namespace llmservice::testing
