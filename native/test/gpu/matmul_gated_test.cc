// A prompt's product, gates and quantization in one launch: every bit that the three leave for the product
// behind them, with slices cut in gate and up at other places of K, and in neither.
#include "backends/gpu/kernels/matmul_gated.h"

#include <string_view>

#include "backends/gpu/kernels/rows.h"
#include "backends/gpu/kernels/tiles.h"
#include "matmul_support.h"

namespace llmservice::testing {
namespace {

using gpu::TileOrder;

struct GatedCase {
  int64_t width;  // F
  int64_t cols;   // K
  int32_t multiprocessors;
  int64_t rows;
  int32_t block_rows;  // of what the product behind it reads
};

class MatmulGated : public ::testing::TestWithParam<GatedCase> {
 protected:
  void SetUp() override {
    const bool emulated = std::string_view(gpu::kVendor) == "host";
    const bool has = gpu::kWarpSize == 32 &&
                     (emulated || gpu::tile_order(device().compute_capability()) == TileOrder::kSwizzled);
    if (!has) GTEST_SKIP();
  }
  const GatedCase c = GetParam();

  static std::vector<std::byte> of_rows(const std::vector<std::byte>& records, const gpu::Activations& a,
                                        int64_t rows);
};

// What lies in records for the first `rows`, row by row: codes of each tile, and its scale.
std::vector<std::byte> MatmulGated::of_rows(const std::vector<std::byte>& records, const gpu::Activations& a,
                                            int64_t rows) {
  const int64_t bytes = gpu::record_bytes(a.layout);
  const int64_t tiles = a.layout.cols / 128;
  std::vector<std::byte> out;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const auto at = static_cast<int32_t>(row % a.layout.block_rows);
      const std::byte* const record = records.data() + (row / a.layout.block_rows * tiles + tile) * bytes;
      for (int32_t byte = 0; byte < 128; ++byte) {
        out.push_back(record[gpu::activation_offset(a.layout.order, at, byte)]);
      }
      const std::byte* const scale = record + a.layout.block_rows * 128 +
                                     4 * gpu::activation_scale(a.layout.order, a.layout.block_rows, at);
      out.insert(out.end(), scale, scale + 4);
    }
  }
  return out;
}

TEST_P(MatmulGated, LeavesTheBitsOfThreeLaunches) {
  const StoredMatrix stored = random_matrix(DType::kF8E4M3, 2 * c.width, c.cols, 1);
  const StoredMatrix down_stored = random_matrix(DType::kF8E4M3, 64, c.width, 2);
  const PackedMatrix gate_up(stored, TileOrder::kSwizzled, c.multiprocessors, 64);
  const PackedMatrix down(down_stored, TileOrder::kSwizzled, c.multiprocessors, 64);
  std::vector<float> x = random_floats(c.rows * c.cols, 3, 3.0f);
  x[3 * c.cols + 5] = NAN;
  for (int64_t i = 0; i < c.cols; ++i) x[4 * c.cols + i] = 0;
  const DeviceArray<float> in(x), wide(c.rows * 2 * c.width, NAN);

  const DeviceArray<std::byte> apart(gpu::matmul_workspace(*gate_up, c.rows), std::byte{0});
  run(gpu::matmul(*gate_up, in.data(), c.rows, apart.data(), wide.data()));
  const DeviceArray<std::byte> room(gpu::matmul_workspace(*down, c.rows) + (4 << 20), std::byte{0});
  const gpu::Activations to = gpu::activations_of(*down, c.rows, room.data());
  EXPECT_EQ(to.layout.block_rows, c.block_rows);
  run(gpu::silu_mul(to, wide.data(), c.rows, nullptr));
  const std::vector<std::byte> before = room.host();
  const std::vector<std::byte> expected =
      of_rows({before.begin() + gpu::kCounterBytes, before.end()}, to, c.rows);

  const DeviceArray<std::byte> together(before.size(), std::byte{0});
  const auto gated = gpu::multiply_gated(*gate_up, *down, c.rows, together.data());
  ASSERT_TRUE(gated.has_value());
  ASSERT_LE(gated->bytes, static_cast<int64_t>(before.size()));
  run(gpu::quantize(gated->from, in.data(), c.rows));
  run(gated->launch);
  const std::vector<std::byte> after = together.host();
  EXPECT_EQ(of_rows({after.begin() + gpu::kCounterBytes, after.end()}, gated->to, c.rows), expected);
}

// Units of K of a pair, and where pairs of gate and of up are cut: 3, nowhere; 5, at 2 in gate or at 4 in up;
// 9, at 5 in gate, at 1 and 6 in up.
INSTANTIATE_TEST_SUITE_P(Shapes, MatmulGated,
                         ::testing::Values(GatedCase{128, 300, 1, 140, 256}, GatedCase{256, 640, 3, 300, 128},
                                           GatedCase{128, 1100, 4, 900, 256}));

TEST(GatedPlan, IsNoneOfFewRowsOrOtherFormats) {
  if (gpu::kWarpSize != 32) GTEST_SKIP();
  const auto plan = [](const StoredMatrix& stored, TileOrder order, int64_t rows) {
    const PackedMatrix gate_up(stored, order, 1, 64);
    const StoredMatrix down_stored = random_matrix(DType::kF8E4M3, 64, stored.rows / 2, 2);
    const PackedMatrix down(down_stored, order, 1, 64);
    const DeviceArray<std::byte> room(4, std::byte{0});
    return gpu::multiply_gated(*gate_up, *down, rows, room.data()).has_value();
  };
  const StoredMatrix blocks = random_matrix(DType::kF8E4M3, 256, 256, 1);
  EXPECT_TRUE(plan(blocks, TileOrder::kSwizzled, 129));
  EXPECT_FALSE(plan(blocks, TileOrder::kSwizzled, 128));
  EXPECT_FALSE(plan(blocks, TileOrder::kFragments, 129));
  EXPECT_FALSE(plan(random_matrix(DType::kF8E4M3, 256, 256, 1, Scaling::kRow), TileOrder::kSwizzled, 129));
  EXPECT_FALSE(plan(random_matrix(DType::kF8E4M3, 320, 256, 1), TileOrder::kSwizzled, 129));
  EXPECT_FALSE(plan(random_matrix(DType::kBF16, 256, 256, 1), TileOrder::kSwizzled, 129));
}

}  // namespace
}  // namespace llmservice::testing
