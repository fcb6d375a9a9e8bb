// Products with swizzled weights: right at every width of the instruction and every cut of K, and the same
// for a row in any company.
#include <string_view>
#include <utility>

#include "backends/gpu/kernels/matmul_orders.h"
#include "backends/gpu/kernels/tiles.h"
#include "backends/gpu/vendor/wgmma_sum.h"
#include "matmul_support.h"

namespace llmservice::testing {
namespace {

using gpu::TileOrder;

struct Case {
  DType dtype;
  int64_t rows;  // N
  int64_t cols;  // K
  Scaling scaling;
  int32_t multiprocessors;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << name_of(c.dtype) << " " << c.rows << " x " << c.cols << " on " << c.multiprocessors;
}

class MatmulTest : public ::testing::TestWithParam<Case> {
 protected:
  const Case c = GetParam();
  StoredMatrix stored = random_matrix(c.dtype, c.rows, c.cols, 1, c.scaling);
};

const auto kShapes = ::testing::Values(
    // All K in one slice; with a second tile in the pair and without.
    Case{DType::kF8E4M3, 128, 256, Scaling::kBlock, 1}, Case{DType::kF8E4M3, 40, 130, Scaling::kBlock, 4},
    // Pairs cut once or more, on borders of pairs and off them; scales of rows; K of no whole scale block.
    Case{DType::kF8E4M3, 300, 600, Scaling::kBlock, 4}, Case{DType::kF8E4M3, 130, 1300, Scaling::kRow, 7},
    Case{DType::kF8E4M3, 193, 515, Scaling::kRow, 2}, Case{DType::kBF16, 200, 330, Scaling::kBlock, 3},
    Case{DType::kF16, 96, 515, Scaling::kBlock, 132});

TEST_P(MatmulTest, GathersRowsFromEitherOrder) {
  const std::vector<int32_t> ids = {static_cast<int32_t>(c.rows - 1), kNoRow, 0, 33};
  std::vector<float> expected;
  for (const int32_t id : ids) {
    for (int64_t col = 0; col < c.cols; ++col) {
      expected.push_back(id == kNoRow ? 0.0f : stored.value(id, col) * stored.scale(id, col));
    }
  }
  for (const TileOrder order : {TileOrder::kSwizzled, TileOrder::kFragments}) {
    const PackedMatrix table(stored, order, c.multiprocessors, 37);
    const DeviceArray<int32_t> list(ids);
    const DeviceArray<float> out(expected.size(), NAN);
    run(gpu::gather(*table, list.data(), static_cast<int64_t>(ids.size()), out.data()));
    expect_close(out.host(), expected, 0.0f, "rows");
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, MatmulTest, kShapes);

#if !defined(LLMSERVICE_WARP_SIZE) || LLMSERVICE_WARP_SIZE == 32

// The emulator of warps of 32 has wgmma whatever it is the emulator of.
void skip_without_wgmma() {
  const bool emulated = std::string_view(gpu::kVendor) == "host";
  if (!emulated && gpu::tile_order(device().compute_capability()) != TileOrder::kSwizzled) GTEST_SKIP();
}

// Row `row` of x as the products of `dtype` take it: numbers, and of FP8 the scale of each 128 columns.
struct TokenNumbers {
  std::vector<gpu::WgmmaNumber> numbers;
  std::vector<float> scales;

  TokenNumbers(DType dtype, std::span<const float> x) {
    for (size_t first = 0; first < x.size(); first += 128) {
      const auto block = x.subspan(first, std::min<size_t>(128, x.size() - first));
      float largest = 1e-30f;
      for (const float value : block) largest = std::max(largest, std::fabs(value));
      const float inverse = dtype == DType::kF8E4M3 ? gpu::kFp8Max / largest : 1.0f;
      scales.push_back(dtype == DType::kF8E4M3 ? largest / gpu::kFp8Max : 1.0f);
      for (const float value : block) {
        const float number = dtype == DType::kF8E4M3 ? gpu::fp8_to_float(gpu::float_to_fp8(value * inverse))
                             : dtype == DType::kBF16 ? bf16_to_float(float_to_bf16(value))
                                                     : gpu::f16_to_float(gpu::float_to_f16(value));
        numbers.push_back(gpu::wgmma_number(dtype, number));
      }
    }
  }
};

// Products (rows, N) whose sums over 32 bytes of K are wgmma_sum.h's. Those over 128 bytes begin with zero,
// and are added in float32, times both scales.
std::vector<float> hopper_products(const StoredMatrix& stored, const std::vector<float>& x, int64_t rows) {
  const int64_t each = 32 / size_of(stored.dtype);
  std::vector<TokenNumbers> tokens;
  for (int64_t row = 0; row < rows; ++row) {
    tokens.emplace_back(stored.dtype, std::span(x).subspan(row * stored.cols, stored.cols));
  }
  std::vector<float> out(rows * stored.rows);
  for (int64_t output = 0; output < stored.rows; ++output) {
    std::vector<gpu::WgmmaNumber> weights;
    for (int64_t col = 0; col < stored.cols; ++col) {
      weights.push_back(gpu::wgmma_number(stored.dtype, stored.value(output, col)));
    }
    for (int64_t row = 0; row < rows; ++row) {
      float& sum = out[row * stored.rows + output];
      for (int64_t unit = 0; unit < stored.cols; unit += 4 * each) {
        float partial = 0;
        for (int64_t k = unit; k < std::min(unit + 4 * each, stored.cols); k += each) {
          const int64_t count = std::min(each, stored.cols - k);
          partial = gpu::wgmma_sum(stored.dtype, std::span(weights).subspan(k, count),
                                   std::span(tokens[row].numbers).subspan(k, count), partial);
        }
        sum = std::fma(partial, stored.scale(output, unit) * tokens[row].scales[unit / 128], sum);
      }
    }
  }
  return out;
}

// The reference's to within what the units cut, and theirs but for the order in which slices are added.
void expect_products(const StoredMatrix& stored, const std::vector<float>& x, int64_t rows,
                     const std::vector<float>& actual) {
  ReferenceProduct expected(stored, x, rows);
  expected.expect(actual, 5e-4f);
  expected.values = hopper_products(stored, x, rows);
  expected.expect(actual, 1e-6f);
}

class SwizzledTest : public MatmulTest {
 protected:
  void SetUp() override { skip_without_wgmma(); }
};

TEST_P(SwizzledTest, IsTheReferenceAndARowIsTheSameInAnyCompany) {
  const PackedMatrix matrix(stored, TileOrder::kSwizzled, c.multiprocessors, 48);
  constexpr int64_t kMost = 140;
  const std::vector<float> x = random_floats(kMost * c.cols, 2, 3.0f);
  const std::vector<float> all = matrix.times(x, kMost);
  expect_products(stored, x, kMost, all);
  for (const int64_t rows : {1, 7, 9, 17, 40, 65}) {
    // The last rows, so that a row has another place in its block.
    const std::vector<float> some(x.end() - rows * c.cols, x.end());
    expect_same_bits(matrix.times(some, rows), std::span(all).last(rows * c.rows),
                     std::to_string(rows) + " rows");
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, SwizzledTest, kShapes);

class Swizzled : public ::testing::Test {
 protected:
  void SetUp() override { skip_without_wgmma(); }
};

// Pairs of six K tiles in slices of four, of eleven in slices of five: cuts lie within pairs, up to two in
// one.
TEST_F(Swizzled, EveryShapeGivesTheSameBits) {
  constexpr int64_t kRows = 260;
  struct Size {
    int64_t outputs;
    int64_t cols;
    int32_t multiprocessors;
  };
  // The last has tiles whose outputs and tokens all exist, and rows on 16 bytes.
  for (const Size& size : {Size{150, 650, 3}, Size{320, 1300, 8}}) {
    const StoredMatrix stored = random_matrix(DType::kF8E4M3, size.outputs, size.cols, 3);
    const std::vector<float> x = random_floats(kRows * stored.cols, 4, 3.0f);
    const PackedMatrix matrix(stored, TileOrder::kSwizzled, size.multiprocessors,
                              static_cast<int32_t>(size.outputs));
    const std::vector<float> all = matrix.times(x, kRows);
    expect_products(stored, x, kRows, all);
    for (const int32_t tokens : {8, 16, 32, 64, 128, 256}) {
      const int64_t rows = tokens < 128 ? 2 * tokens - 3 : kRows;
      for (const bool whole : {false, true}) {
        if (tokens == 256 && !whole) continue;
        const std::vector<float> some(x.begin(), x.begin() + rows * stored.cols);
        const DeviceArray<float> in(some);
        for (const int32_t resident : {1, 2, 3}) {
          if (resident > 1 && tokens > 64) continue;
          const DeviceArray<float> out(rows * stored.rows, NAN);
          const DeviceArray<std::byte> workspace(gpu::matmul_workspace(*matrix, rows), std::byte{0});
          run(gpu::swizzled_matmul(*matrix, {tokens, whole, resident}, in.data(), rows, workspace.data(),
                                   out.data()));
          expect_same_bits(out.host(), std::span(all).first(rows * stored.rows),
                           std::to_string(size.outputs) + " outputs, " + std::to_string(tokens) +
                               (whole ? " tokens, all K, " : " tokens, slices, ") + std::to_string(resident) +
                               " blocks");
        }
      }
    }
  }
}

// Three pairs, each cut twice, by two blocks of tokens: the last pair has one tile. Nothing but results goes
// to the output.
TEST_F(Swizzled, BlocksThatWalkAllKeepSumsOfSlicesInThePlacesOfTheirWarps) {
  constexpr int64_t kRows = 260;
  constexpr int32_t kTokens = 256;
  constexpr size_t kFloats = kTokens * 16;  // of a warp
  const StoredMatrix stored = random_matrix(DType::kF8E4M3, 320, 1300, 3);
  const PackedMatrix matrix(stored, TileOrder::kSwizzled, 8, 320);
  const DeviceArray<float> in(random_floats(kRows * stored.cols, 4, 3.0f)), out(kRows * stored.rows, NAN);
  const DeviceArray<std::byte> workspace(gpu::matmul_workspace(*matrix, kRows), std::byte{0});
  run(gpu::swizzled_matmul(*matrix, {kTokens, true}, in.data(), kRows, workspace.data(), out.data()));
  const gpu::ActivationLayout layout{TileOrder::kSwizzled, DType::kF8E4M3, kTokens, 1300};
  const int64_t activations = gpu::divide_up(gpu::activation_bytes(layout, kRows), 256) * 256;
  const std::vector<std::byte> bytes = workspace.host();
  const std::span<const std::byte> sums = std::span(bytes).subspan(gpu::kCounterBytes + activations);
  std::vector<size_t> kept;
  for (size_t at = 0; at < sums.size(); at += kFloats * sizeof(float)) {
    const auto some = sums.subspan(at, kFloats * sizeof(float));
    if (std::ranges::any_of(some, [](std::byte byte) { return byte != std::byte{0}; }))
      kept.push_back(at / some.size());
  }
  std::vector<size_t> expected;
  for (size_t block = 0; block < 6; ++block) {
    for (size_t warp = 0; warp < (block < 4 ? 8 : 4); ++warp) expected.push_back(8 * block + warp);
  }
  EXPECT_EQ(kept, expected);
}

// Σ x of each of `rows`; of those for FP8 the largest is 448, so that the scale is 1.
std::vector<float> sums_of(DType dtype, const std::vector<std::vector<float>>& rows) {
  constexpr int64_t kCols = 40;
  StoredMatrix ones{dtype, 1, kCols, {}, {}, {}, {}};
  if (dtype == DType::kF8E4M3) {
    ones.data.assign(kCols, std::byte{0x38});
    ones.scales = {1.0f};
  } else {
    const std::vector<uint16_t> values(kCols, float_to_bf16(1));
    ones.data.resize(2 * kCols);
    std::memcpy(ones.data.data(), values.data(), ones.data.size());
  }
  std::vector<float> x(rows.size() * kCols);
  for (size_t row = 0; row < rows.size(); ++row) std::ranges::copy(rows[row], x.begin() + row * kCols);
  const PackedMatrix matrix(ones, TileOrder::kSwizzled, 1, 1);
  return matrix.times(x, static_cast<int64_t>(rows.size()));
}

// 448 has its first digit at 2^8 and keeps what is worth 2^-5 or more of each other term, in whatever number.
TEST_F(Swizzled, Fp8TermsKeepThirteenDigitsBelowTheLargest) {
  const float kept = 0x1p-5f;
  const float lost = 0x1p-6f;
  std::vector<float> late(33, 0.0f);
  late[0] = 448, late[32] = kept + lost;
  EXPECT_EQ(sums_of(DType::kF8E4M3, {{448, kept}, {448, lost, lost, lost}, {448, -lost, -lost}, late}),
            (std::vector<float>{448 + kept, 448, 448, 448 + kept}));
}

// Sums are cut to float's digits, and not rounded.
TEST_F(Swizzled, Bf16SumsAreCut) {
  EXPECT_EQ(sums_of(DType::kBF16,
                    {{1, 0x1p-23f}, {1, 0x1.8p-24f}, {1, 0x1p-24f, 0x1p-24f}, {1, 0x1p-26f, 0x1p-26f}}),
            (std::vector<float>{1 + 0x1p-23f, 1, 1 + 0x1p-23f, 1}));
}

// What is brought lies within the matrices: the emulator checks both ends of it. Slices of 4 and of 31
// units: short ones read ahead while they wait too.
TEST_F(Swizzled, ReadingAheadChangesNoBit) {
  constexpr int64_t kUnit = 2 * 64 * 128;
  const StoredMatrix next_stored = random_matrix(DType::kF8E4M3, 150, 650, 7);
  const StoredMatrix small_stored = random_matrix(DType::kBF16, 40, 130, 8);
  const PackedMatrix next(next_stored, TileOrder::kSwizzled, 3, 150);
  const PackedMatrix small(small_stored, TileOrder::kSwizzled, 3, 40);
  for (const auto& [cols, multiprocessors] : {std::pair{650, 3}, std::pair{3900, 2}}) {
    const StoredMatrix stored = random_matrix(DType::kF8E4M3, 150, cols, 10);
    const PackedMatrix matrix(stored, TileOrder::kSwizzled, multiprocessors, 150);
    const std::vector<float> x = random_floats(5 * stored.cols, 9);
    const DeviceArray<float> in(x), out(5 * stored.rows, NAN);
    const DeviceArray<std::byte> workspace(gpu::matmul_workspace(*matrix, 5), std::byte{0});
    gpu::Launches launches = gpu::matmul(*matrix, in.data(), 5, workspace.data(), out.data());
    gpu::Launch& product = launches.back();
    EXPECT_EQ(gpu::read_ahead(product, *next, 3 * kUnit - 1), 0) << "less than a unit of each slice";
    EXPECT_EQ(gpu::read_ahead(product, *small, 1 << 20), 4 * kUnit) << "all of it";
    EXPECT_EQ(gpu::read_ahead(product, *next, 7 * kUnit), 6 * kUnit) << "two units of three slices";
    EXPECT_EQ(gpu::read_ahead(product, *next, 1 << 20), 0) << "there is no room for a third";
    run(launches);
    expect_same_bits(out.host(), matrix.times(x, 5), std::to_string(cols) + " columns");
  }
}

TEST_F(Swizzled, WhatIsNotFiniteStaysInItsRow) {
  const StoredMatrix stored = random_matrix(DType::kF8E4M3, 100, 300, 5);
  std::vector<float> x = random_floats(4 * stored.cols, 6);
  const PackedMatrix matrix(stored, TileOrder::kSwizzled, 2, 100);
  const std::vector<float> clean = matrix.times(x, 4);
  x[stored.cols + 7] = NAN;
  x[2 * stored.cols + 290] = -INFINITY;
  const std::vector<float> out = matrix.times(x, 4);
  for (const int64_t row : {0, 3}) {
    expect_same_bits(std::span(out).subspan(row * 100, 100), std::span(clean).subspan(row * 100, 100), "row");
  }
  for (int64_t i = 100; i < 300; ++i) EXPECT_FALSE(std::isfinite(out[i])) << i;
}

#endif

}  // namespace
}  // namespace llmservice::testing
