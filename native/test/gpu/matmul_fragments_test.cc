// Products with weights in the order of matrix fragments, against the reference on the same quantized
// numbers, and against themselves: a row's bits are the same alone and among others, in every shape of block.
#include "backends/gpu/kernels/fragment_products.h"
#include "matmul_support.h"

namespace llmservice::testing {
namespace {

using gpu::kFragmentTokens;

// With one multiprocessor, large blocks fill the device at once; with many they never do.
constexpr int32_t kWalks = 1;
constexpr int32_t kSlices = 1'000'000;

// Of the terms' magnitudes. NVIDIA sums the eight-bit products of an instruction in about 14 bits.
float tolerance(DType dtype) {
  return dtype == DType::kF8E4M3 && std::string_view(gpu::kVendor) == "cuda" ? 0x1p-12f : 2e-6f;
}

struct Case {
  DType dtype;
  Scaling scaling;
  int32_t outputs;
  int32_t cols;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << name_of(c.dtype) << ' ' << c.outputs << " x " << c.cols
       << (c.scaling == Scaling::kRow ? " by row" : "");
}

class MatmulFragmentsTest : public ::testing::TestWithParam<Case> {
 protected:
  const int32_t cols = GetParam().cols;
  const int64_t outputs = GetParam().outputs;
  const StoredMatrix stored = random_matrix(GetParam().dtype, outputs, cols, 1, GetParam().scaling);
  const PackedMatrix walks{stored, gpu::TileOrder::kFragments, kWalks, 64};
  const PackedMatrix slices{stored, gpu::TileOrder::kFragments, kSlices, 64};

  void expect_as_reference(const PackedMatrix& matrix, int64_t rows) const {
    SCOPED_TRACE(rows);
    const std::vector<float> x = random_floats(rows * cols, static_cast<uint32_t>(rows));
    ReferenceProduct(stored, x, rows).expect(matrix.times(x, rows), tolerance(stored.dtype));
  }
};

TEST_P(MatmulFragmentsTest, MultipliesAsTheReference) {
  // One and two fragments of tokens, whole and in part; then blocks of the most, and walked ones.
  for (const int64_t rows : {1, kFragmentTokens, kFragmentTokens + 1, 3 * kFragmentTokens - 1}) {
    expect_as_reference(slices, rows);
  }
  expect_as_reference(walks, gpu::kWalkTokens + 3);
}

TEST_P(MatmulFragmentsTest, GivesARowTheSameBitsInAnyCompany) {
  const int64_t rows = gpu::kWalkTokens + 5;
  const std::vector<float> x = random_floats(rows * cols, 3);
  const std::vector<float> walked = walks.times(x, rows);
  expect_same_bits(slices.times(x, rows), walked, "all rows by slices");
  for (const int64_t count : {1, kFragmentTokens + 3}) {
    for (const int64_t first : {int64_t{7}, rows - count}) {
      const std::vector<float> part(x.begin() + first * cols, x.begin() + (first + count) * cols);
      expect_same_bits(walks.times(part, count), std::span(walked).subspan(first * outputs, count * outputs),
                       std::to_string(count) + " rows from " + std::to_string(first));
    }
  }
}

TEST_P(MatmulFragmentsTest, KeepsAFaultInItsRow) {
  std::vector<float> x = random_floats(3 * cols, 4);
  const std::vector<float> sound = slices.times(x, 3);
  x[cols + cols / 2] = NAN;
  const std::vector<float> out = slices.times(x, 3);
  for (int64_t i = outputs; i < 2 * outputs; ++i) ASSERT_TRUE(std::isnan(out[i])) << i;
  expect_same_bits(std::span(out).first(outputs), std::span(sound).first(outputs), "row 0");
  expect_same_bits(std::span(out).last(outputs), std::span(sound).last(outputs), "row 2");
}

// Fewer blocks of K than slices, and more; outputs that end within a tile, a strip, a run of four.
INSTANTIATE_TEST_SUITE_P(Cases, MatmulFragmentsTest,
                         ::testing::Values(Case{DType::kF8E4M3, Scaling::kBlock, 80, 1100},
                                           Case{DType::kF8E4M3, Scaling::kRow, 33, 384},
                                           Case{DType::kF8E4M3, Scaling::kBlock, 64, 130},
                                           Case{DType::kBF16, Scaling::kBlock, 70, 600},
                                           Case{DType::kF16, Scaling::kBlock, 48, 258}));

}  // namespace
}  // namespace llmservice::testing
