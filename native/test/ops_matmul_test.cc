// Packed matrices: exact against a scalar chain, and the same bits whatever the rows, threads and family.
#include <cmath>

#include "ops_support.h"

namespace llmservice::testing {
namespace {

// The contract of an output element: chains of fused multiply-adds over 128 columns, then the block's scale.
float chained_dot(const StoredMatrix& w, int64_t row, const float* widened, const float* x) {
  const bool scaled = !w.scales.empty();
  float total = 0;
  for (int64_t begin = 0; begin < w.cols; begin += 128) {
    float partial = 0;
    for (int64_t k = begin; k < std::min(begin + 128, w.cols); ++k) {
      partial = std::fma(x[k], widened[k], partial);
    }
    total = scaled ? std::fma(partial, w.scale(row, begin), total) : total + partial;
  }
  return total;
}

// Output `row` for every row of x.
void chained_row(const StoredMatrix& w, int64_t row, std::span<const float> x, float* out,
                 int64_t out_stride) {
  std::vector<float> widened(w.cols);
  for (int64_t k = 0; k < w.cols; ++k) widened[k] = w.value(row, k);
  for (size_t t = 0; t < x.size() / w.cols; ++t) {
    out[t * out_stride] = chained_dot(w, row, widened.data(), &x[t * w.cols]);
  }
}

struct Shape {
  DType dtype;
  int64_t n;
  int64_t k;
  Scaling scaling = Scaling::kBlock;
};

// Each row count up to six has a kernel of its own, the next go by blocks of six with every remainder, and
// tiles have at most 192 rows.
constexpr int64_t kRowCounts[] = {1, 2, 3, 4, 5, 6, 7, 8, 13, 17, 64, 192, 193, 203};
constexpr int64_t kMostRows = 203;

class MatmulTest : public ::testing::TestWithParam<Shape> {};

TEST_P(MatmulTest, EveryRowHasTheBitsOfItsScalarChain) {
  const auto [dtype, n, k, scaling] = GetParam();
  const StoredMatrix w = random_matrix(dtype, n, k, 7, scaling);
  const DType keep = dtype == DType::kF32 ? DType::kF32 : DType::kBF16;
  const std::vector<float> x = random_floats(kMostRows * k, 11);
  std::vector<float> expected(kMostRows * n);
  for (int64_t i = 0; i < n; ++i) chained_row(w, i, x, &expected[i], n);
  for (const auto& backend : all_backends()) {
    const auto packed = pack(*backend, w, keep);
    // The portable family is slow: of large matrices the row counts around its borders do.
    const bool slow = std::string(backend->isa()) == "portable" && n * k > 50000;
    for (const int64_t rows : kRowCounts) {
      if (slow && rows > 13) continue;
      std::vector<float> out(rows * n, NAN);
      backend->matmul(*packed, x.data(), rows, out.data());
      expect_same_bits(out, std::span(expected).first(rows * n),
                       label(*backend) + ", " + std::to_string(rows) + " rows");
    }
  }
}

std::vector<Shape> shapes() {
  std::vector<Shape> all = {{DType::kF8E4M3, 1, 1},
                            {DType::kF8E4M3, 130, 300},
                            {DType::kBF16, 17, 129},
                            {DType::kF16, 66, 131},
                            {DType::kF32, 70, 1024},
                            {DType::kF32, 63, 127},
                            {DType::kI8, 1, 1, Scaling::kRow},
                            {DType::kI8, 131, 257, Scaling::kRow},
                            {DType::kF4E2M1, 65, 16, Scaling::kRow},
                            {DType::kF4E2M1, 130, 304, Scaling::kRow},
                            {DType::kF8E4M3, 70, 300, Scaling::kRow},
                            {DType::kQ8_0, 65, 32, Scaling::kRow},
                            {DType::kQ8_0, 130, 288, Scaling::kRow},
                            {DType::kQ4_0, 66, 96, Scaling::kRow},
                            {DType::kQ4_K, 65, 256, Scaling::kRow},
                            {DType::kQ4_K, 3, 768, Scaling::kRow},
                            {DType::kQ6_K, 67, 512, Scaling::kRow}};
  // Depths of real models, in every format and scaling.
  for (const auto& [dtype, scaling] :
       {std::pair{DType::kF8E4M3, Scaling::kBlock}, std::pair{DType::kF8E4M3, Scaling::kRow},
        std::pair{DType::kBF16, Scaling::kRow}, std::pair{DType::kF16, Scaling::kRow},
        std::pair{DType::kF32, Scaling::kRow}, std::pair{DType::kI8, Scaling::kRow},
        std::pair{DType::kF4E2M1, Scaling::kRow}, std::pair{DType::kQ8_0, Scaling::kRow},
        std::pair{DType::kQ4_0, Scaling::kRow}, std::pair{DType::kQ4_K, Scaling::kRow},
        std::pair{DType::kQ6_K, Scaling::kRow}}) {
    for (const auto& [n, k] : {std::pair{130, 1024}, std::pair{65, 5120}, std::pair{9, 17408}}) {
      all.push_back({dtype, n, k, scaling});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, MatmulTest, ::testing::ValuesIn(shapes()), [](const auto& info) {
  return std::string(name_of(info.param.dtype)) + (info.param.scaling == Scaling::kRow ? "_rows_" : "_") +
         std::to_string(info.param.n) + "x" + std::to_string(info.param.k);
});

TEST(Pack, PartsMayBeginAnywhereInTheirScaleBlocks) {
  const StoredMatrix a = random_matrix(DType::kF8E4M3, 300, 200, 1);
  const StoredMatrix b = random_matrix(DType::kF8E4M3, 150, 200, 2);
  // 100 rows from the middle of a block, then all of b: no border falls on a multiple of 64 or 128.
  const std::vector<MatrixPart> parts = {a.part(90, 100), b.part(0, 150), a.part(299, 1)};
  const std::vector<float> x = random_floats(200, 3);
  std::vector<float> expected(251);
  for (int64_t i = 0; i < 100; ++i) chained_row(a, 90 + i, x, &expected[i], 1);
  for (int64_t i = 0; i < 150; ++i) chained_row(b, i, x, &expected[100 + i], 1);
  chained_row(a, 299, x, &expected[250], 1);
  for (const auto& backend : all_backends()) {
    uint64_t read = 0;
    const auto packed = backend->pack(parts, DType::kBF16, [&](uint64_t bytes) { read += bytes; });
    EXPECT_EQ(read, 251u * 200u);
    EXPECT_EQ(packed->rows, 251);
    std::vector<float> out(251);
    backend->matmul(*packed, x.data(), 1, out.data());
    expect_same_bits(out, expected, label(*backend));
  }
}

TEST(Pack, PartsMayHaveTypesOfTheirOwn) {
  const StoredMatrix a = random_matrix(DType::kQ4_K, 70, 256, 1);
  const StoredMatrix b = random_matrix(DType::kQ6_K, 33, 256, 2);
  const StoredMatrix c = random_matrix(DType::kF16, 65, 256, 3);
  const std::vector<MatrixPart> parts = {a.part(0, 70), b.part(0, 33), c.part(0, 65)};
  const std::vector<float> x = random_floats(9 * 256, 4);
  std::vector<float> expected(9 * 168);
  for (int64_t i = 0; i < 70; ++i) chained_row(a, i, x, &expected[i], 168);
  for (int64_t i = 0; i < 33; ++i) chained_row(b, i, x, &expected[70 + i], 168);
  for (int64_t i = 0; i < 65; ++i) chained_row(c, i, x, &expected[103 + i], 168);
  for (const auto& backend : all_backends()) {
    const auto packed = backend->pack(parts, DType::kBF16, [](uint64_t) {});
    std::vector<float> out(9 * 168);
    backend->matmul(*packed, x.data(), 9, out.data());
    expect_same_bits(out, expected, label(*backend));
    const std::vector<int32_t> ids = {69, 70, 102, 103, 167};
    std::vector<float> rows(ids.size() * 256);
    backend->gather(*packed, ids, rows.data());
    for (int64_t k = 0; k < 256; ++k) {
      EXPECT_EQ(rows[256 + k], b.value(0, k));
      EXPECT_EQ(rows[4 * 256 + k], c.value(64, k));
    }
  }
}

TEST(Pack, ReadsThroughAWindowOfAtMost16MiB) {
  const auto backend = make_cpu_backend({.threads = 2});
  size_t largest = 0;
  uint64_t next = 0;
  const MatrixPart part{DType::kBF16,
                        3000,
                        4096,
                        [&](uint64_t offset, std::span<std::byte> out) {
                          EXPECT_EQ(offset, next);
                          next += out.size();
                          largest = std::max(largest, out.size());
                        },
                        {},
                        0};
  backend->pack({&part, 1}, DType::kBF16, [](uint64_t) {});
  EXPECT_EQ(next, 3000u * 4096u * 2u);
  EXPECT_LE(largest, size_t{16} << 20);
}

TEST(Pack, RefusesAnFp8TensorWithTooFewScales) {
  const auto backend = make_cpu_backend({.threads = 1});
  StoredMatrix w = random_matrix(DType::kF8E4M3, 256, 256, 1);
  w.scales.resize(1);
  try {
    pack(*backend, w);
    FAIL() << "accepted";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.reason(), "UnsupportedQuantization");
    EXPECT_NE(std::string(error.what()).find("1 scales"), std::string::npos) << error.what();
  }
}

TEST(Pack, UnquantizedPartsAreRoundedToWhatIsKept) {
  const auto backend = make_cpu_backend({.threads = 1});
  ReferenceBackend reference;
  for (const DType from : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (const DType keep : {DType::kBF16, DType::kF32}) {
      const StoredMatrix w = random_matrix(from, 70, 90, 5);
      const std::vector<int32_t> ids = {69, 0, 33, 64};
      std::vector<float> out(ids.size() * 90), expected(ids.size() * 90);
      backend->gather(*pack(*backend, w, keep), ids, out.data());
      reference.gather(*pack(reference, w, keep), ids, expected.data());
      expect_same_bits(out, expected, std::string(name_of(from)) + " kept as " + name_of(keep));
    }
  }
}

TEST(Gather, AppliesFp8Scales) {
  const auto backend = make_cpu_backend({.threads = 2});
  const StoredMatrix w = random_matrix(DType::kF8E4M3, 200, 300, 5);
  const std::vector<int32_t> ids = {199, 127, 128};
  std::vector<float> out(ids.size() * 300);
  backend->gather(*pack(*backend, w), ids, out.data());
  for (size_t i = 0; i < ids.size(); ++i) {
    for (int64_t k = 0; k < 300; ++k) EXPECT_EQ(out[i * 300 + k], w.value(ids[i], k) * w.scale(ids[i], k));
  }
}

TEST(Gather, WidensWhatEveryTypeHolds) {
  const auto backend = make_cpu_backend({.threads = 1});
  ReferenceBackend reference;
  for (const DType dtype :
       {DType::kF8E4M3, DType::kI8, DType::kF4E2M1, DType::kQ8_0, DType::kQ4_0, DType::kQ4_K, DType::kQ6_K}) {
    const StoredMatrix w = random_matrix(dtype, 90, 256, 5, Scaling::kRow);
    const std::vector<int32_t> ids = {89, 0, 63, 64};
    std::vector<float> out(ids.size() * 256), expected(ids.size() * 256);
    backend->gather(*pack(*backend, w), ids, out.data());
    reference.gather(*pack(reference, w), ids, expected.data());
    expect_same_bits(out, expected, name_of(dtype));
  }
}

TEST(Pack, HoldsF16AsItIsAndTakesWhatItsTypeTakes) {
  const auto backend = make_cpu_backend({.threads = 1});
  EXPECT_EQ(pack(*backend, random_matrix(DType::kF16, 64, 128, 1))->bytes, 64u * 128 * 2);
  EXPECT_EQ(pack(*backend, random_matrix(DType::kI8, 65, 128, 1, Scaling::kRow))->bytes, 128u * (128 + 4));
  EXPECT_EQ(pack(*backend, random_matrix(DType::kQ8_0, 65, 64, 1))->bytes, 128u * 2 * 34);
  EXPECT_EQ(pack(*backend, random_matrix(DType::kQ4_K, 65, 256, 1))->bytes, 128u * (128 + 20));
  EXPECT_EQ(pack(*backend, random_matrix(DType::kQ6_K, 65, 256, 1))->bytes, 128u * 210);
  // Half a byte and a sixteenth of one per value, a float per row, and rows up to whole panels.
  EXPECT_EQ(pack(*backend, random_matrix(DType::kF4E2M1, 65, 128, 1, Scaling::kRow))->bytes,
            128u * (64 + 8 + 4));
}

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

TEST(Backend, RefusesAnUnknownInstructionFamily) {
  EXPECT_THROW(make_cpu_backend({.isa = "sse9"}), EngineError);
}

}  // namespace
}  // namespace llmservice::testing
