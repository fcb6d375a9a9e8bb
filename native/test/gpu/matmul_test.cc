// Products with swizzled weights: right at every width of the instruction and every cut of K, and the same
// for a row in any company.
#include <string_view>
#include <utility>

#include "backends/gpu/kernels/matmul_orders.h"
#include "matmul_support.h"

namespace llmservice::testing {
namespace {

using gpu::TileOrder;

// Tensor cores keep some 13 bits of the larger terms when they add FP8 products; the emulator adds exactly.
const float kTolerance = std::string_view(gpu::kVendor) == "host" ? 1e-6f : 5e-4f;

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

class SwizzledTest : public MatmulTest {
 protected:
  void SetUp() override { skip_without_wgmma(); }
};

TEST_P(SwizzledTest, IsTheReferenceAndARowIsTheSameInAnyCompany) {
  const PackedMatrix matrix(stored, TileOrder::kSwizzled, c.multiprocessors, 48);
  constexpr int64_t kMost = 140;
  const std::vector<float> x = random_floats(kMost * c.cols, 2, 3.0f);
  const std::vector<float> all = matrix.times(x, kMost);
  ReferenceProduct(stored, x, kMost).expect(all, kTolerance);
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
    ReferenceProduct(stored, x, kRows).expect(all, kTolerance);
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

// What is brought lies within the matrices: the emulator looks at both ends of it. Slices of 4 and of 31
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
