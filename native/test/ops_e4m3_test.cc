// Rounding to e4m3: every value goes to the nearest code.
#include <cmath>

#include "ops_support.h"

namespace llmservice::testing {
namespace {

// The nearest code by search over all of them, ties to the even mantissa.
uint8_t nearest_e4m3(float value) {
  uint8_t best = 0;
  for (int code = 0; code < 0x7f; ++code) {
    const auto candidate = static_cast<uint8_t>(code | (std::signbit(value) ? 0x80 : 0));
    const double distance = std::fabs(static_cast<double>(e4m3_to_float(candidate)) - value);
    const double least = std::fabs(static_cast<double>(e4m3_to_float(best)) - value);
    if (code == 0 || distance < least || (distance == least && code % 2 == 0)) best = candidate;
  }
  return best;
}

TEST(DType, RoundsToTheNearestE4m3) {
  std::vector<float> values = {0.0f, -0.0f,   448.0f,  -448.0f,  464.0f,
                               1e9f, 0x1p-6f, 0x1p-9f, 0x1p-10f, 1e-40f};
  for (int code = 0; code < 0x7e; ++code) {  // every code, what lies half way to the next, and either side
    const float low = e4m3_to_float(static_cast<uint8_t>(code));
    const float half = (low + e4m3_to_float(static_cast<uint8_t>(code + 1))) / 2;
    for (const float x : {low, half, std::nextafter(half, 0.0f), std::nextafter(half, 1000.0f)}) {
      values.push_back(x);
      values.push_back(-x);
    }
  }
  for (const float value : values) EXPECT_EQ(float_to_e4m3(value), nearest_e4m3(value)) << value;
}

}  // namespace
}  // namespace llmservice::testing
