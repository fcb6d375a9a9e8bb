// Products of BF16 pairs: exact on every code of e4m3, near the reference with activations rounded alike, and
// only where weights are kept in BF16 or less. Their bits are ops_matmul_test's.
#include "matmul_support.h"

namespace llmservice::testing {
namespace {

std::vector<std::unique_ptr<Backend>> backends_with_pairs() {
  std::vector<std::unique_ptr<Backend>> all = product_backends();
  std::erase_if(all, [](const auto& backend) { return !rounds(*backend, DType::kBF16); });
  return all;
}

// Up to 16 rows and above, FP8 is widened in different places.
constexpr int64_t kRowCounts[] = {1, 4, 5, 8, 16, 17, 130};

TEST(Pairs, WidenEveryFiniteCodeOfE4m3Exactly) {
  constexpr int64_t kCols = 130;
  StoredMatrix w = random_matrix(DType::kF8E4M3, 256, kCols, 1);
  for (int64_t i = 0; i < 256 * kCols; ++i) {
    const auto code = static_cast<uint8_t>(i / kCols + i % kCols);
    w.data[i] = static_cast<std::byte>((code & 0x7f) == 0x7f ? 0 : code);
  }
  std::vector<float> ones(kCols * kCols, 0.0f);  // row t picks column t
  for (int64_t t = 0; t < kCols; ++t) ones[t * kCols + t] = 1;
  for (const auto& backend : backends_with_pairs()) {
    const auto packed = pack(*backend, w);
    for (const int64_t rows : kRowCounts) {
      std::vector<float> out(rows * 256, NAN);
      backend->matmul(*packed, ones.data(), rows, out.data());
      for (int64_t i = 0; i < rows * 256; ++i) {
        ASSERT_EQ(out[i], w.value(i % 256, i / 256) * w.scale(i % 256, i / 256)) << rows << " rows, " << i;
      }
    }
  }
}

TEST(Pairs, KeepANanOfE4m3) {
  StoredMatrix w = random_matrix(DType::kF8E4M3, 64, 128, 1);
  w.data[3 * 128 + 7] = std::byte{0x7f};
  w.data[5 * 128 + 8] = std::byte{0xff};
  const std::vector<float> x(17 * 128, 0.5f);
  for (const auto& backend : backends_with_pairs()) {
    const auto packed = pack(*backend, w);
    for (const int64_t rows : {1, 8, 17}) {
      std::vector<float> out(rows * 64);
      backend->matmul(*packed, x.data(), rows, out.data());
      for (int64_t i = 0; i < rows * 64; ++i) {
        ASSERT_EQ(std::isnan(out[i]), i % 64 == 3 || i % 64 == 5) << rows << " rows, " << i;
      }
    }
  }
}

TEST(Pairs, AreNearTheReferenceWithActivationsRoundedAlike) {
  ReferenceBackend reference;
  for (const auto& [dtype, scaling] :
       {std::pair{DType::kBF16, Scaling::kRow}, {DType::kF8E4M3, Scaling::kBlock},
        {DType::kF8E4M3, Scaling::kRow},        {DType::kI8, Scaling::kRow},
        {DType::kF4E2M1, Scaling::kRow},        {DType::kQ8_0, Scaling::kRow},
        {DType::kQ4_0, Scaling::kRow},          {DType::kQ4_1, Scaling::kRow},
        {DType::kQ5_0, Scaling::kRow},          {DType::kQ5_1, Scaling::kRow},
        {DType::kQ2_K, Scaling::kRow},          {DType::kQ3_K, Scaling::kRow},
        {DType::kQ4_K, Scaling::kRow},          {DType::kQ5_K, Scaling::kRow},
        {DType::kQ6_K, Scaling::kRow},          {DType::kIQ4_NL, Scaling::kRow},
        {DType::kIQ4_XS, Scaling::kRow},        {DType::kMXFP4, Scaling::kRow},
        {DType::kInt4, Scaling::kRow},          {DType::kInt8, Scaling::kRow}}) {
    const int64_t cols = is_quantized(dtype) && dtype != DType::kF8E4M3 ? 1024 : 1030;
    const StoredMatrix w = random_matrix(dtype, 200, cols, 3, scaling);
    const std::vector<float> x = random_floats(20 * cols, 4);
    std::vector<float> rounded = x;
    for (float& value : rounded) value = bf16_to_float(float_to_bf16(value));
    std::vector<float> expected(20 * 200);
    reference.matmul(*pack(reference, w), rounded.data(), 20, expected.data());
    float largest = 0;
    for (const float value : expected) largest = std::max(largest, std::fabs(value));
    for (const auto& backend : backends_with_pairs()) {
      std::vector<float> out(20 * 200);
      backend->matmul(*pack(*backend, w), x.data(), 20, out.data());
      for (size_t i = 0; i < out.size(); ++i) {
        ASSERT_NEAR(out[i] / largest, expected[i] / largest, 2e-6) << name_of(dtype) << ", element " << i;
      }
    }
  }
}

// Who keeps weights in float32 gets the bits of every machine.
TEST(Pairs, AreNotUsedWhereWeightsAreKeptInFloat32) {
  const StoredMatrix w = random_matrix(DType::kF8E4M3, 130, 300, 5);
  const std::vector<float> x = random_floats(9 * 300, 6);
  std::vector<float> expected(9 * 130);
  for (int64_t i = 0; i < 130; ++i) chained_row(w, i, x, &expected[i], 130);
  for (const auto& backend : product_backends()) {
    std::vector<float> out(9 * 130);
    backend->matmul(*pack(*backend, w, DType::kF32), x.data(), 9, out.data());
    expect_same_bits(out, expected, label(*backend));
  }
}

TEST(Pairs, RoundActivationsToNearestTiesToEven) {
  StoredMatrix w{DType::kBF16, 64, 64, std::vector<std::byte>(64 * 64 * 2), {}, {}, {}};
  const uint16_t one = float_to_bf16(1);
  for (int64_t i = 0; i < 64; ++i) std::memcpy(&w.data[i * 65 * 2], &one, sizeof one);
  std::vector<float> x = random_floats(64, 9);
  for (int64_t i = 0; i < 32; ++i) x[i] = 1 + static_cast<float>(i) * 0x1p-9f;  // every fourth lies half-way
  for (const auto& backend : backends_with_pairs()) {
    std::vector<float> out(64);
    backend->matmul(*pack(*backend, w), x.data(), 1, out.data());
    for (int64_t i = 0; i < 64; ++i) ASSERT_EQ(out[i], bf16_to_float(float_to_bf16(x[i]))) << i;
  }
}

// Activations that a sum cannot survive are seen, not lost in the rounding.
TEST(Pairs, KeepActivationsThatAreNoNumbers) {
  const StoredMatrix w = random_matrix(DType::kBF16, 64, 200, 7);
  std::vector<float> x = random_floats(2 * 200, 8);
  x[199] = INFINITY;
  x[200 + 131] = NAN;
  for (const auto& backend : product_backends()) {
    std::vector<float> out(2 * 64);
    backend->matmul(*pack(*backend, w), x.data(), 2, out.data());
    for (const float value : out) ASSERT_FALSE(std::isfinite(value)) << label(*backend);
  }
}

}  // namespace
}  // namespace llmservice::testing
