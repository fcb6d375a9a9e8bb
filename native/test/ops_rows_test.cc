// Norms, activations, rotary angles: close to the scalar reference; the same bits for every family, thread
// count and neighbourhood of a row.
#include <functional>
#include <limits>

#include "ops_support.h"

namespace llmservice::testing {
namespace {

constexpr float kTolerance = 2e-6f;

// An op over `rows` rows of `width` values, with whatever else it needs derived from the width alone.
struct RowOp {
  const char* name;
  std::function<std::vector<float>(Backend&, const std::vector<float>& x, int64_t rows, int64_t width)> run;
};

// Without the last value of rows of an odd width.
std::vector<float> even(const std::vector<float>& x, int64_t rows, int64_t width) {
  std::vector<float> kept;
  for (int64_t t = 0; t < rows; ++t) {
    kept.insert(kept.end(), x.begin() + t * width, x.begin() + t * width + width / 2 * 2);
  }
  return kept;
}

const std::vector<RowOp>& row_ops() {
  static const std::vector<RowOp> ops = {
      {"rms_norm",
       [](Backend& b, const std::vector<float>& x, int64_t rows, int64_t width) {
         std::vector<float> out(rows * width);
         b.rms_norm(x.data(), random_floats(width, 5).data(), 1e-6f, rows, width, out.data());
         return out;
       }},
      {"add_bias",
       [](Backend& b, const std::vector<float>& x, int64_t rows, int64_t width) {
         std::vector<float> out = x;
         b.add_bias(out.data(), random_floats(width, 9).data(), rows, width);
         return out;
       }},
      {"add_rms_norm",
       [](Backend& b, const std::vector<float>& x, int64_t rows, int64_t width) {
         std::vector<float> sum = x;
         std::vector<float> out(x.size());
         b.add_rms_norm(sum.data(), x.data(), random_floats(width, 10).data(), 1e-6f, rows, width, out.data(),
                        {});
         for (size_t i = 0; i < out.size(); ++i) out[i] += sum[i];
         return out;
       }},
      {"add_layer_norm",
       [](Backend& b, const std::vector<float>& x, int64_t rows, int64_t width) {
         // Far from a mean of 0.
         std::vector<float> sum(x.size());
         for (size_t i = 0; i < sum.size(); ++i) sum[i] = x[i] + 7;
         std::vector<float> out(x.size());
         b.add_layer_norm(sum.data(), x.data(), random_floats(width, 11).data(), 1e-5f, rows, width,
                          out.data(), {});
         const std::vector<float> apart = out;
         b.add_layer_norm(sum.data(), nullptr, random_floats(width, 11).data(), 1e-5f, rows, width,
                          sum.data(), {});
         expect_same_bits(sum, apart, "in place");
         return out;
       }},
      {"erf_gelu_mul",
       [](Backend& b, const std::vector<float>& x, int64_t rows, int64_t width) {
         std::vector<float> out(rows * (width / 2));
         b.erf_gelu_mul(even(x, rows, width).data(), rows, width / 2, out.data());
         return out;
       }},
      {"silu_mul",
       [](Backend& b, const std::vector<float>& x, int64_t rows, int64_t width) {
         std::vector<float> out(rows * (width / 2));
         b.silu_mul(even(x, rows, width).data(), rows, width / 2, out.data());
         return out;
       }},
      {"gelu_mul",
       [](Backend& b, const std::vector<float>& x, int64_t rows, int64_t width) {
         std::vector<float> out(rows * (width / 2));
         b.gelu_mul(even(x, rows, width).data(), rows, width / 2, out.data());
         return out;
       }},
      {"scale",
       [](Backend& b, const std::vector<float>& x, int64_t, int64_t) {
         std::vector<float> out = x;
         b.scale(out.data(), static_cast<int64_t>(out.size()), 8.5f);
         return out;
       }},
      {"cap",
       [](Backend& b, const std::vector<float>& x, int64_t, int64_t) {
         std::vector<float> out = x;
         b.cap(out.data(), static_cast<int64_t>(out.size()), 7.5f);
         return out;
       }},
      {"sigmoid_mul",
       [](Backend& b, const std::vector<float>& x, int64_t rows, int64_t width) {
         std::vector<float> out = x;
         b.sigmoid_mul(out.data(), x.data(), width, rows, width);
         return out;
       }},
  };
  return ops;
}

class RowOpTest : public ::testing::TestWithParam<size_t> {};

TEST_P(RowOpTest, AgreesWithTheReferenceAndWithItself) {
  const RowOp& op = row_ops()[GetParam()];
  ReferenceBackend reference;
  const auto backends = all_backends();
  for (const int64_t width : {2, 15, 16, 17, 64, 128, 1024, 5120, 17408}) {
    const std::vector<float> x = random_floats(9 * width, 3, 20.0f);
    const std::vector<float> first = op.run(*backends.front(), x, 9, width);
    expect_close(first, op.run(reference, x, 9, width), kTolerance,
                 std::string(op.name) + " width " + std::to_string(width));
    for (const auto& backend : backends) {
      expect_same_bits(op.run(*backend, x, 9, width), first, std::string(op.name) + ", " + label(*backend));
    }
    const std::vector<float> last_row(x.end() - width, x.end());
    const std::vector<float> alone = op.run(*backends.back(), last_row, 1, width);
    expect_same_bits(alone, std::span(first).last(alone.size()), std::string(op.name) + ", row alone");
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, RowOpTest, ::testing::Range<size_t>(0, 10),
                         [](const auto& info) { return row_ops()[info.param].name; });

TEST(Activations, SaturateAtBothEndsAndKeepNaN) {
  for (const auto& backend : all_backends()) {
    std::vector<float> x = {1, 1, 1, 1};
    const std::vector<float> gate = {-200.0f, 200.0f, 0.0f, NAN};
    backend->sigmoid_mul(x.data(), gate.data(), 4, 1, 4);
    EXPECT_NEAR(x[0], 0.0f, 1e-37f);
    EXPECT_EQ(x[1], 1.0f);
    EXPECT_EQ(x[2], 0.5f);
    EXPECT_TRUE(std::isnan(x[3])) << label(*backend) << ": a NaN must reach the health check";
  }
}

TEST(Activations, GeluAndCapsEndWhereTheyMust) {
  for (const auto& backend : all_backends()) {
    std::vector<float> x = {-INFINITY, INFINITY, 0.0f, NAN, 1e-3f};
    backend->cap(x.data(), 5, 30.0f);
    EXPECT_EQ(x[0], -30.0f) << label(*backend);
    EXPECT_EQ(x[1], 30.0f) << label(*backend);
    EXPECT_EQ(x[2], 0.0f) << label(*backend);
    EXPECT_TRUE(std::isnan(x[3])) << label(*backend) << ": a NaN must reach the health check";
    EXPECT_NEAR(x[4], 1e-3f, 4e-6f) << label(*backend);
    const std::vector<float> gate_up = {-200.0f, 200.0f, 0.0f, NAN, 1, 1, 1, 1};
    std::vector<float> out(4);
    backend->gelu_mul(gate_up.data(), 1, 4, out.data());
    EXPECT_NEAR(out[0], 0.0f, 1e-30f) << label(*backend);
    EXPECT_EQ(out[1], 200.0f) << label(*backend);
    EXPECT_EQ(out[2], 0.0f) << label(*backend);
    EXPECT_TRUE(std::isnan(out[3])) << label(*backend);
    backend->erf_gelu_mul(gate_up.data(), 1, 4, out.data());
    EXPECT_NEAR(out[0], 0.0f, 1e-30f) << label(*backend);
    EXPECT_EQ(out[1], 200.0f) << label(*backend);
    EXPECT_EQ(out[2], 0.0f) << label(*backend);
    EXPECT_TRUE(std::isnan(out[3])) << label(*backend);
  }
}

TEST(RopeAngles, AreOfPositionTimesFrequencyInFloat) {
  const std::vector<int32_t> positions = {0, 1, 4095, 262143};
  const std::vector<float> frequencies = {1.0f, 0.31622776f, 1e-3f};
  std::vector<float> expected_cos(12), expected_sin(12), cos(12), sin(12);
  ReferenceBackend().rope_angles(positions, frequencies.data(), 3, 1.25f, expected_cos.data(),
                                 expected_sin.data());
  for (const auto& backend : all_backends()) {
    backend->rope_angles(positions, frequencies.data(), 3, 1.25f, cos.data(), sin.data());
    expect_close(cos, expected_cos, 1e-7f, label(*backend));
    expect_close(sin, expected_sin, 1e-7f, label(*backend));
    EXPECT_EQ(cos[4], std::cos(0.31622776f) * 1.25f) << label(*backend);
  }
}

TEST(TakeRows, CopiesInTheGivenOrder) {
  const auto backend = make_cpu_backend({.threads = 2});
  const std::vector<float> x = random_floats(5 * 300, 1);
  const std::vector<int32_t> rows = {4, 0, 4};
  std::vector<float> out(3 * 300);
  backend->take_rows(x.data(), rows, 300, out.data());
  for (size_t i = 0; i < 3; ++i) {
    expect_same_bits(std::span(out).subspan(i * 300, 300), std::span(x).subspan(rows[i] * 300, 300), "row");
  }
}

TEST(TakeColumns, PutsEachWhereItIsNamedAndTheFillWhereNoneIs) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::vector<int32_t> columns = {kNoRow, 2, 0, kNoRow, 1};
  for (const auto& backend : all_backends()) {
    std::vector<float> out(10);
    backend->take_columns(x.data(), 2, 3, columns.data(), 5, -9, out.data());
    EXPECT_EQ(out, (std::vector<float>{-9, 3, 1, -9, 2, -9, 6, 4, -9, 5})) << label(*backend);
  }
}

// Widths around the lanes and the four chains of the CPU's kernel; the value at every place of a row.
TEST(AddRmsNorm, FindsEveryValueThatIsNotFiniteAndWhetherTheNormMadeIt) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& backend : all_backends()) {
    for (const int64_t width : {1, 15, 16, 17, 63, 64, 72, 100}) {
      const std::vector<float> weight(width, 1.0f);
      std::vector<float> out(5 * width);
      for (int64_t at = 0; at < width; ++at) {
        const std::string what = label(*backend) + " " + std::to_string(width) + " " + std::to_string(at);
        // Rows: sound; bad by itself; bad by what is added; bad, but seen before; large.
        std::vector<float> x = random_floats(5 * width, 1);
        std::vector<float> y = random_floats(5 * width, 2);
        x[1 * width + at] = -kInfinity;
        y[2 * width + at] = kNan;
        x[3 * width + at] = kNan;
        x[4 * width + at] = 1e18f;
        std::vector<int32_t> first = {0, 0, 0, 4, 0};
        backend->add_rms_norm(x.data(), y.data(), weight.data(), 1e-6f, 5, width, out.data(),
                              {first.data(), 8});
        EXPECT_EQ(first, (std::vector<int32_t>{0, 8, 8, 4, 0})) << what;

        std::vector<float> bad_weight = weight;
        bad_weight[at] = kNan;
        x = random_floats(5 * width, 1);
        x[2 * width + at] = kInfinity;
        first = {0, 0, 0, 4, 0};
        backend->add_rms_norm(x.data(), nullptr, bad_weight.data(), 1e-6f, 5, width, out.data(),
                              {first.data(), 8});
        EXPECT_EQ(first, (std::vector<int32_t>{9, 9, 8, 4, 9})) << what;
      }
    }
  }
}

TEST(Allocate, GivesAlignedZeroedMemory) {
  const auto backend = make_cpu_backend({.threads = 1});
  for (const size_t bytes : {size_t{1}, size_t{4096}, size_t{5} << 20}) {
    const auto buffer = backend->allocate(bytes);
    EXPECT_EQ(buffer->bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, 0u);
    const auto* data = static_cast<const char*>(buffer->data());
    EXPECT_TRUE(std::all_of(data, data + bytes, [](char c) { return c == 0; }));
  }
}

}  // namespace
}  // namespace llmservice::testing
