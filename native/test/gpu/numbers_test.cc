// The device's number formats against those that files are stored in.
#include "backends/gpu/kernels/numbers.h"

#include "ops_support.h"

namespace llmservice::testing {
namespace {

TEST(Numbers, EveryStoredCodeKeepsItsValueOnTheDevice) {
  for (int code = 0; code < 256; ++code) {
    if ((code & 0x7f) == 0x7f) continue;
    const auto stored = static_cast<uint8_t>(code);
    EXPECT_EQ(gpu::fp8_to_float(gpu::device_fp8(stored)) * gpu::kStoredFp8Scale, e4m3_to_float(stored))
        << code;
  }
}

TEST(Numbers, EveryDeviceCodeIsItsOwnRounding) {
  for (int code = 0; code < 256; ++code) {
    const float value = gpu::fp8_to_float(static_cast<uint8_t>(code));
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(gpu::float_to_fp8(value), code) << value;
  }
}

TEST(Numbers, RoundsToTheNearestCodeAndTiesToEven) {
  std::vector<float> values;
  for (int code = 0; code < 0x80; ++code) {
    const float value = gpu::fp8_to_float(static_cast<uint8_t>(code));
    if (std::isfinite(value)) values.push_back(value);
  }
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    const float middle = (values[i] + values[i + 1]) / 2;
    EXPECT_EQ(gpu::float_to_fp8(std::nextafter(middle, 0.0f)), i);
    EXPECT_EQ(gpu::float_to_fp8(std::nextafter(middle, INFINITY)), i + 1);
    EXPECT_EQ(gpu::float_to_fp8(middle), i + i % 2);
    EXPECT_EQ(gpu::fp8_to_float(gpu::float_to_fp8(-values[i + 1])), -values[i + 1]);
  }
  EXPECT_EQ(gpu::fp8_to_float(gpu::float_to_fp8(1e9f)), gpu::kFp8Max);
  EXPECT_EQ(gpu::fp8_to_float(gpu::float_to_fp8(-1e9f)), -gpu::kFp8Max);
}

TEST(Numbers, Bf16IsThatOfFiles) {
  for (const float value : random_floats(1000, 1, 100.0f)) {
    EXPECT_EQ(gpu::float_to_bf16(value), float_to_bf16(value));
    EXPECT_EQ(gpu::bf16_to_float(gpu::float_to_bf16(value)), bf16_to_float(float_to_bf16(value)));
  }
  EXPECT_TRUE(std::isnan(gpu::bf16_to_float(gpu::float_to_bf16(NAN))));
}

}  // namespace
}  // namespace llmservice::testing
