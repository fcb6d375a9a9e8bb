// What adapters add to a product: close to the scalar reading, and to the bit the same on any family, thread
// count and cut of the rows.
#include "ops_support.h"

namespace llmservice::testing {
namespace {

struct Case {
  int64_t rank;
  int64_t cols;
  int64_t rows;
  DType dtype;
};

constexpr int64_t kTokens = 71;
constexpr int64_t kFirst = 3;
constexpr int64_t kPlace = 1;

std::vector<std::byte> held(const std::vector<float>& values, DType dtype) {
  std::vector<std::byte> out(values.size() * size_of(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t half = float_to_bf16(values[i]);
    if (dtype == DType::kF32) std::memcpy(out.data() + 4 * i, &values[i], 4);
    if (dtype == DType::kBF16) std::memcpy(out.data() + 2 * i, &half, 2);
  }
  return out;
}

class AddLowRank : public ::testing::TestWithParam<Case> {
 protected:
  int64_t rank = GetParam().rank;
  int64_t cols = GetParam().cols;
  int64_t rows = GetParam().rows;
  int64_t width = (rank + kRankLanes - 1) / kRankLanes * kRankLanes;
  int64_t stride = kFirst + rows + 5;
  LowRank sides{nullptr, nullptr, GetParam().dtype, rank, cols, rows, kFirst, 1};
  std::vector<float> x = random_floats(kTokens * cols, 1);
  std::vector<float> before = random_floats(kTokens * stride, 2);
  // Two pairs, in the order in which they are held.
  std::vector<std::byte> a[2] = {shrinking(3), shrinking(4)};
  std::vector<std::byte> b[2] = {expanding(5), expanding(6)};
  LowRank pairs[2] = {pair(0), pair(1)};
  LowRankTable adapters[2] = {adapter(0), adapter(1)};

  std::vector<std::byte> shrinking(uint32_t seed) {
    std::vector<float> values = random_floats(cols * width, seed);
    for (int64_t i = 0; i < cols * width; ++i) values[i] *= i % width < rank ? 1.0f : 0.0f;
    return held(values, GetParam().dtype);
  }
  std::vector<std::byte> expanding(uint32_t seed) {
    const std::vector<float> values = random_floats(rows * rank, seed);
    std::vector<float> panels(sides.b_values());
    for (int64_t i = 0; i < rows * rank; ++i) panels[sides.b_at(i / rank, i % rank)] = values[i];
    return held(panels, GetParam().dtype);
  }
  LowRank pair(int which) {
    LowRank pair = sides;
    pair.a = a[which].data();
    pair.b = b[which].data();
    pair.scale = 0.5f + which;
    return pair;
  }
  LowRankTable adapter(int which) {
    LowRankTable table(kPlace + 1);
    table.all_at(kPlace).front() = pairs[which];
    return table;
  }
  std::vector<float> add(Backend& backend, const std::vector<LowRankRows>& entries) {
    std::vector<float> out = before;
    backend.add_low_rank(entries, kPlace, x.data(), cols, out.data(), stride);
    return out;
  }
  // In double.
  double added(const LowRank& pair, int64_t token, int64_t output) {
    double sum = 0;
    for (int64_t r = 0; r < rank; ++r) {
      double shrunk = 0;
      for (int64_t d = 0; d < cols; ++d) {
        shrunk += double{x[token * cols + d]} * widen(pair.dtype, pair.a, pair.a_at(r, d));
      }
      sum += shrunk * widen(pair.dtype, pair.b, pair.b_at(output, r));
    }
    return sum * pair.scale;
  }
};

TEST_P(AddLowRank, IsCloseToTheScalarReading) {
  const auto backend = make_cpu_backend({.threads = 2});
  const std::vector<LowRankRows> entries = {{&adapters[0], 0, 5}, {&adapters[1], 5, 1}};
  const std::vector<float> out = add(*backend, entries);
  for (int64_t t = 0; t < kTokens; ++t) {
    for (int64_t i = 0; i < stride; ++i) {
      const int64_t output = i - kFirst;
      const bool adapted = t < 6 && output >= 0 && output < rows;
      const double wanted = before[t * stride + i] + (adapted ? added(pairs[t < 5 ? 0 : 1], t, output) : 0);
      if (adapted) {
        EXPECT_NEAR(out[t * stride + i], wanted, 2e-4 * (1 + std::abs(wanted))) << t << " " << i;
      } else {
        EXPECT_EQ(out[t * stride + i], before[t * stride + i]) << t << " " << i;
      }
    }
  }
}

TEST_P(AddLowRank, HasTheSameBitsOnAnyFamilyThreadCountAndCut) {
  const auto portable = make_cpu_backend({.threads = 1, .isa = "portable"});
  std::vector<LowRankRows> one_by_one;
  for (int64_t t = 0; t < kTokens; ++t) one_by_one.push_back({&adapters[t < 40 ? 0 : 1], t, 1});
  const std::vector<float> wanted = add(*portable, one_by_one);
  for (const std::string& isa : cpu_isas()) {
    for (const int threads : {1, 3}) {
      const auto backend = make_cpu_backend({.threads = threads, .isa = isa.c_str()});
      EXPECT_EQ(add(*backend, one_by_one), wanted) << isa;
      EXPECT_EQ(add(*backend, {{&adapters[1], 40, kTokens - 40}, {&adapters[0], 0, 40}}), wanted) << isa;
      EXPECT_EQ(
          add(*backend, {{&adapters[0], 0, 3}, {&adapters[0], 3, 37}, {&adapters[1], 40, kTokens - 40}}),
          wanted)
          << isa;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, AddLowRank,
                         ::testing::Values(Case{1, 7, 5, DType::kF32}, Case{16, 96, 160, DType::kBF16},
                                           Case{20, 130, 1100, DType::kBF16}, Case{64, 33, 48, DType::kF32},
                                           Case{256, 50, 17, DType::kBF16}));

}  // namespace
}  // namespace llmservice::testing
