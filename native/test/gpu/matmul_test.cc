// Products with swizzled weights: right at every width of the instruction and every cut of K, and the same
// for a row in any company.
#include <string_view>

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

#if LLMSERVICE_WARP_SIZE == 32 || !defined(LLMSERVICE_WARP_SIZE)

using SwizzledTest = MatmulTest;

TEST_P(SwizzledTest, IsTheReferenceAndARowIsTheSameInAnyCompany) {
  const PackedMatrix matrix(stored, TileOrder::kSwizzled, c.multiprocessors, 48);
  constexpr int64_t kMost = 300;
  const std::vector<float> x = random_floats(kMost * c.cols, 2, 3.0f);
  const std::vector<float> all = matrix.times(x, kMost);
  ReferenceProduct(stored, x, kMost).expect(all, kTolerance);
  for (const int64_t rows : {1, 7, 9, 17, 40, 65, 129}) {
    // The last rows, so that a row has another place in its block.
    const std::vector<float> some(x.end() - rows * c.cols, x.end());
    expect_same_bits(matrix.times(some, rows), std::span(all).last(rows * c.rows),
                     std::to_string(rows) + " rows");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SwizzledTest,
    ::testing::Values(
        // All K in one slice; with a second tile in the pair and without.
        Case{DType::kF8E4M3, 128, 256, Scaling::kBlock, 1}, Case{DType::kF8E4M3, 40, 130, Scaling::kBlock, 4},
        // Pairs cut once or more, on borders of pairs and off them; scales of rows; K of no whole scale
        // block.
        Case{DType::kF8E4M3, 300, 600, Scaling::kBlock, 4}, Case{DType::kF8E4M3, 130, 1300, Scaling::kRow, 7},
        Case{DType::kF8E4M3, 193, 515, Scaling::kRow, 2}, Case{DType::kBF16, 200, 330, Scaling::kBlock, 3},
        Case{DType::kF16, 96, 520, Scaling::kBlock, 132}));

#endif

}  // namespace
}  // namespace llmservice::testing
