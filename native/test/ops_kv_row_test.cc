// K and V in eight bits: how far from what was given, whatever its magnitude, and what becomes of values that
// are no numbers.
#include <cmath>

#include "ops/kv_row.h"
#include "ops_support.h"

namespace llmservice::testing {
namespace {

std::vector<float> stored_and_read(const std::vector<float>& row) {
  std::vector<uint8_t> codes(row.size());
  const float scale = quantize_kv_row(row.data(), static_cast<int32_t>(row.size()), codes.data());
  std::vector<float> read;
  for (const uint8_t code : codes) read.push_back(e4m3_to_float(code) * scale);
  return read;
}

class KvRowTest : public ::testing::TestWithParam<float> {};

// Normal codes have three bits of mantissa: half a step is 1/16. Below 2^-6 of the scale the step is fixed.
TEST_P(KvRowTest, IsWithinASixteenthOrTheLeastStep) {
  const float spread = GetParam();
  const std::vector<float> row = random_floats(256, 5, spread);
  const std::vector<float> read = stored_and_read(row);
  float largest = 0;
  for (const float x : row) largest = std::max(largest, std::fabs(x));
  const float least = largest / 448 * 0x1p-10f;
  for (size_t i = 0; i < row.size(); ++i) {
    EXPECT_LE(std::fabs(read[i] - row[i]), std::max(std::fabs(row[i]) / 16, least) * 1.0001f) << row[i];
    if (std::fabs(row[i]) == largest) EXPECT_FLOAT_EQ(read[i], row[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Magnitudes, KvRowTest, ::testing::Values(1e-30f, 1e-3f, 1.0f, 300.0f, 1e30f, 1e38f));

TEST(KvRow, ZerosAndWhatIsAsGoodAsZeroAreZeros) {
  EXPECT_EQ(stored_and_read({0, -0.0f, 0}), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(stored_and_read({1e-42f, -1e-37f}), (std::vector<float>{0, 0}));
}

TEST(KvRow, AValueThatIsNotFiniteSpoilsItsRow) {
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    for (const float read : stored_and_read({1, bad, 2})) EXPECT_TRUE(std::isnan(read)) << bad;
  }
}

}  // namespace
}  // namespace llmservice::testing
