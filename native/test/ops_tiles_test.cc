// Products by AMX tiles, on machines without them by their model: sums worked out by hand from Intel's
// description, and what decides at start whether tiles can be trusted. Their bits on whole matrices are
// ops_matmul_test's.
#include "backends/cpu/gemm_amx.h"
#include "backends/cpu/tile_check.h"
#include "matmul_support.h"

namespace llmservice::testing {
namespace {

std::vector<std::unique_ptr<Backend>> backends_with_tiles() {
  std::vector<std::unique_ptr<Backend>> all = product_backends();
  std::erase_if(all, [](const auto& backend) { return !has_tiles(*backend); });
  return all;
}

// Of one output with weights in BF16.
float product(Backend& backend, const std::vector<float>& weights, const std::vector<float>& x) {
  const auto cols = static_cast<int64_t>(x.size());
  StoredMatrix w{DType::kBF16, 1, cols, std::vector<std::byte>(cols * 2), {}, {}, {}};
  for (int64_t k = 0; k < cols; ++k) {
    const uint16_t bits = float_to_bf16(weights[k]);
    std::memcpy(&w.data[k * 2], &bits, sizeof bits);
  }
  float out = NAN;
  backend.matmul(*pack(backend, w), x.data(), 1, &out);
  return out;
}

TEST(Tiles, SumFirstAndSecondProductsOfPairsApart) {
  // One after the other, 1 would be lost beside 2^24.
  for (const auto& backend : backends_with_tiles())
    EXPECT_EQ(product(*backend, {0x1p24f, 1, -0x1p24f, 1}, {1, 1, 1, 1}), 2.0f) << label(*backend);
}

TEST(Tiles, AddStepsOf32ColumnsInTurn) {
  std::vector<float> weights(96, 0.0f);
  weights[0] = 1;
  weights[32] = 0x1p24f;
  weights[64] = -0x1p24f;
  const std::vector<float> ones(96, 1.0f);
  for (const auto& backend : backends_with_tiles()) {
    EXPECT_EQ(product(*backend, weights, ones), 0.0f) << label(*backend);
    std::swap(weights[0], weights[64]);  // -2^24, 2^24, 1
    EXPECT_EQ(product(*backend, weights, ones), 1.0f) << label(*backend);
    std::swap(weights[0], weights[64]);
  }
}

TEST(Tiles, TakeNumbersBelowTheNormalOnesForZero) {
  for (const auto& backend : backends_with_tiles()) {
    EXPECT_EQ(product(*backend, {0x1p-130f, 0}, {0x1p100f, 0}), 0.0f) << label(*backend);
    EXPECT_EQ(product(*backend, {0x1p-65f, 0}, {0x1p-65f, 0}), 0.0f) << label(*backend);
    EXPECT_EQ(product(*backend, {0x1p-63f, 0}, {0x1p-63f, 0}), 0x1p-126f) << label(*backend);
  }
}

// Products of pairs differ in nothing but the order of sums, and are refused.
TEST(Tiles, AreTrustedOnlyWithTheBitsOfTheirModel) {
  const std::vector<std::string> isas = cpu_isas();
  if (std::ranges::find(isas, "avx512bf16") == isas.end()) GTEST_SKIP() << "no AVX-512 BF16";
  EXPECT_TRUE(cpu::give_same_bits(cpu::multiply_modelled_tiles, cpu::multiply_modelled_tiles));
  EXPECT_FALSE(cpu::give_same_bits(cpu::avx512bf16_kernels().multiply_pairs, cpu::multiply_modelled_tiles));
  if (isas.back() != "amx") return;
  EXPECT_TRUE(cpu::give_same_bits(cpu::multiply_tiles, cpu::multiply_modelled_tiles));
}

TEST(Tiles, AreNotForcedOnMachinesWithoutThem) {
  if (cpu_isas().back() == "amx") GTEST_SKIP() << "this machine has tiles";
  EXPECT_THROW(make_cpu_backend({.isa = "amx"}), EngineError);
}

}  // namespace
}  // namespace llmservice::testing
