// Packed matrices: exact against scalar sums, the same bits whatever the rows and threads. Families that do
// not round activations agree in every bit.
#include "matmul_support.h"

namespace llmservice::testing {
namespace {

struct Shape {
  DType dtype;
  int64_t n;
  int64_t k;
  Scaling scaling = Scaling::kBlock;
};

// Each row count up to eight has a kernel of its own, the next go by blocks of six or eight with every
// remainder, products of pairs change their way beyond 16 and others beyond 24, tiles have at most 192 rows.
constexpr int64_t kRowCounts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 16, 17, 24, 25, 64, 192, 193, 203};
// Rows are cut into tiles whatever the columns: for the deepest matrices, the kernels and remainders do.
constexpr int64_t max_rows(int64_t k) { return k > 1024 ? 25 : 203; }

class MatmulTest : public ::testing::TestWithParam<Shape> {};

TEST_P(MatmulTest, EveryRowHasTheBitsOfItsScalarChain) {
  const auto [dtype, n, k, scaling] = GetParam();
  const StoredMatrix w = random_matrix(dtype, n, k, 7, scaling);
  const DType keep = dtype == DType::kF32 ? DType::kF32 : DType::kBF16;
  const std::vector<float> x = random_floats(max_rows(k) * k, 11);
  std::vector<float> expected[4];  // by what activations are rounded to
  for (const auto& backend : product_backends()) {
    if (fixes(*backend, dtype)) {  // which it does not where weights are kept in float32
      std::vector<float> first(n), out(n);
      for (int64_t i = 0; i < n; ++i) chained_row(w, i, std::span(x).first(k), &first[i], n);
      backend->matmul(*pack(*backend, w, DType::kF32), x.data(), 1, out.data());
      expect_same_bits(out, first, label(*backend) + ", float32");
    }
    const Rounding rounding = rounding_of(*backend, dtype, keep, k);
    std::vector<float>& sums = expected[static_cast<int>(rounding)];
    if (sums.empty()) {
      sums.resize(max_rows(k) * n);
      for (int64_t i = 0; i < n; ++i) chained_row(w, i, x, &sums[i], n, rounding);
    }
    const auto packed = pack(*backend, w, keep);
    // The portable family is slow: of large matrices the row counts around its borders do.
    const bool slow = std::string(backend->isa()) == "portable" && n * k > 50000;
    for (const int64_t rows : kRowCounts) {
      if (rows > (slow ? 13 : max_rows(k))) continue;
      std::vector<float> out(rows * n, NAN);
      backend->matmul(*packed, x.data(), rows, out.data());
      expect_same_bits(out, std::span(sums).first(rows * n),
                       label(*backend) + ", " + std::to_string(rows) + " rows");
    }
  }
}

std::vector<Shape> shapes() {
  std::vector<Shape> all = {{DType::kF8E4M3, 1, 1},
                            {DType::kF8E4M3, 130, 300},
                            {DType::kBF16, 17, 129},
                            {DType::kBF16, 66, 203},
                            {DType::kF16, 66, 131},
                            {DType::kF32, 70, 1024},
                            {DType::kF32, 63, 127},
                            {DType::kI8, 1, 1, Scaling::kRow},
                            {DType::kI8, 131, 257, Scaling::kRow},
                            {DType::kI8, 131, 264, Scaling::kBlock},
                            {DType::kF4E2M1, 65, 16, Scaling::kRow},
                            {DType::kF4E2M1, 130, 304, Scaling::kRow},
                            {DType::kF8E4M3, 70, 300, Scaling::kRow},
                            {DType::kQ8_0, 65, 32, Scaling::kRow},
                            {DType::kQ8_0, 130, 288, Scaling::kRow},
                            {DType::kQ4_0, 66, 96, Scaling::kRow},
                            {DType::kQ4_K, 65, 256, Scaling::kRow},
                            {DType::kQ4_K, 3, 768, Scaling::kRow},
                            {DType::kQ6_K, 67, 512, Scaling::kRow},
                            {DType::kQ4_1, 65, 32, Scaling::kRow},
                            {DType::kQ4_1, 66, 288, Scaling::kRow},
                            {DType::kQ5_0, 67, 288, Scaling::kRow},
                            {DType::kQ5_1, 65, 96, Scaling::kRow},
                            {DType::kQ5_K, 67, 768, Scaling::kRow},
                            {DType::kQ2_K, 65, 768, Scaling::kRow},
                            {DType::kQ3_K, 66, 768, Scaling::kRow},
                            {DType::kIQ4_NL, 66, 288, Scaling::kRow},
                            {DType::kIQ4_XS, 65, 768, Scaling::kRow},
                            {DType::kMXFP4, 67, 288, Scaling::kRow},
                            {DType::kInt4, 67, 288, Scaling::kRow},
                            {DType::kInt8, 130, 160, Scaling::kRow}};
  // Depths of real models, in every format and scaling.
  for (const auto& [dtype, scaling] :
       {std::pair{DType::kF8E4M3, Scaling::kBlock}, std::pair{DType::kF8E4M3, Scaling::kRow},
        std::pair{DType::kBF16, Scaling::kRow}, std::pair{DType::kF16, Scaling::kRow},
        std::pair{DType::kF32, Scaling::kRow}, std::pair{DType::kI8, Scaling::kRow},
        std::pair{DType::kF4E2M1, Scaling::kRow}, std::pair{DType::kQ8_0, Scaling::kRow},
        std::pair{DType::kQ4_0, Scaling::kRow}, std::pair{DType::kQ4_K, Scaling::kRow},
        std::pair{DType::kQ6_K, Scaling::kRow}}) {
    for (const auto& [n, k] : {std::pair{130, 1024}, std::pair{65, 5120}, std::pair{9, 17408}}) {
      all.push_back({dtype, n, k, scaling});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, MatmulTest, ::testing::ValuesIn(shapes()), [](const auto& info) {
  return std::string(name_of(info.param.dtype)) + (info.param.scaling == Scaling::kRow ? "_rows_" : "_") +
         std::to_string(info.param.n) + "x" + std::to_string(info.param.k);
});

// Of a K block's activations, which share a scale.
TEST(FixedPoint, KeepsWhatIsNotFiniteOrNotNormalInTheirOwnRow) {
  for (const auto& backend : all_backends()) {
    if (!fixes(*backend, DType::kQ6_K)) continue;
    const auto packed = pack(*backend, random_matrix(DType::kQ6_K, 70, 256, 3));
    for (const float value : {INFINITY, -INFINITY, NAN}) {
      std::vector<float> x = random_floats(2 * 256, 4);
      std::vector<float> alone(70), out(2 * 70);
      backend->matmul(*packed, x.data(), 1, alone.data());
      x[256 + 133] = value;
      backend->matmul(*packed, x.data(), 2, out.data());
      expect_same_bits(std::span(out).first(70), alone, "the other row");
      for (int64_t i = 70; i < 140; ++i) EXPECT_TRUE(std::isnan(out[i])) << value;
    }
    std::vector<float> x(256, 0.0f), out(70, NAN);
    for (const float value : {0.0f, 0x1p-140f}) {
      x[7] = value;
      backend->matmul(*packed, x.data(), 1, out.data());
      for (const float each : out) EXPECT_EQ(each, 0.0f) << value;
    }
  }
}

// Sums of integers at their largest: codes that are all the farthest from zero, activations that are all the
// largest of their block, the first of one sign.
TEST(FixedPoint, AddsUpTheLargestNumbersExactly) {
  for (const DType dtype : {DType::kQ4_K, DType::kQ6_K}) {
    StoredMatrix w = random_matrix(dtype, 70, 256, 3);
    const int64_t bytes = block_layout(dtype).bytes;
    const bool is_q6 = dtype == DType::kQ6_K;
    for (int64_t row = 0; row < w.rows; ++row) {
      const auto codes = w.data.begin() + row * bytes + (is_q6 ? 0 : 16);
      std::fill_n(codes, is_q6 ? 192 : 128, is_q6 ? std::byte{0} : std::byte{0xff});  // -32, or 15
    }
    std::vector<float> x = random_floats(24 * 256, 4);
    for (float& each : x) each = std::copysign(3.7f, each);
    std::fill_n(x.begin(), 256, -3.7f);
    for (const auto& backend : all_backends()) {
      if (!fixes(*backend, dtype)) continue;
      std::vector<float> expected(24 * 70);
      for (int64_t i = 0; i < 70; ++i) chained_row(w, i, x, &expected[i], 70, Rounding::kFixed);
      const auto packed = pack(*backend, w);
      for (const int64_t rows : {1, 2, 3, 7, 24}) {
        std::vector<float> out(rows * 70, NAN);
        backend->matmul(*packed, x.data(), rows, out.data());
        expect_same_bits(out, std::span(expected).first(rows * 70), std::to_string(rows) + " rows");
      }
    }
  }
}

// An activation is off by half a step at most, whose square is a twelfth of a step's on average. A step is a
// 32767th of the largest of 128, here of one ten thousand times as large as the others beside it.
TEST(FixedPoint, RoundsToTheNearestStep) {
  for (const DType dtype : {DType::kQ4_K, DType::kQ6_K}) {
    const StoredMatrix w = random_matrix(dtype, 200, 256, 3);
    std::vector<float> x = random_floats(256, 4);
    x[40] = 10007;
    const double steps[] = {10007.0 / 32767, 1.0 / 32767};  // of the first 128, and at most of the others
    for (const auto& backend : all_backends()) {
      if (!fixes(*backend, dtype)) continue;
      std::vector<float> out(200);
      backend->matmul(*pack(*backend, w), x.data(), 1, out.data());
      double squares = 0;
      double expected = 0;
      for (int64_t i = 0; i < 200; ++i) {
        double exact = 0;
        double allowed = 0;
        for (int64_t k = 0; k < 256; ++k) {
          const double weight = w.value(i, k);
          exact += weight * x[k];
          allowed += std::abs(weight) * steps[k / 128] / 2;
          expected += weight * weight * steps[k / 128] * steps[k / 128] / 12;
        }
        EXPECT_NEAR(out[i], exact, allowed) << i;
        squares += (out[i] - exact) * (out[i] - exact);
      }
      EXPECT_LT(squares, 1.5 * expected) << name_of(dtype);
    }
  }
}

TEST(FixedPoint, IsLeftOutWhereExactnessIsFloat32) {
  const StoredMatrix w = random_matrix(DType::kQ4_K, 65, 256, 3);
  const std::vector<float> x = random_floats(256, 4);
  std::vector<float> expected(65), out(65);
  for (int64_t i = 0; i < 65; ++i) chained_row(w, i, x, &expected[i], 65);
  const auto backend = make_cpu_backend({.threads = 1, .isa = "float32"});
  backend->matmul(*pack(*backend, w), x.data(), 1, out.data());
  expect_same_bits(out, expected, label(*backend));
}

TEST(Backend, RefusesAnUnknownInstructionFamily) {
  EXPECT_THROW(make_cpu_backend({.isa = "sse9"}), EngineError);
}

}  // namespace
}  // namespace llmservice::testing
