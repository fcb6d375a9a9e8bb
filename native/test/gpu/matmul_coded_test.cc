// Products with weights of four and eight bits in integers and E2M1, packed as a checkpoint's are, against
// the reference on activations rounded alike; and against themselves in other company and shapes of block.
#include <map>

#include "backends/gpu/kernels/fragment_products.h"
#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/packing.h"
#include "gpu_support.h"

namespace llmservice::testing {
namespace {

using gpu::kFragmentTokens;

// With one multiprocessor, large blocks fill the device at once; with many they never do.
constexpr int32_t kWalks = 1;
constexpr int32_t kSlices = 1'000'000;

// Of the terms' magnitudes: nothing but sums in float rounds.
constexpr float kTolerance = 2e-6f;

struct Case {
  DType dtype;
  int32_t outputs;
  int32_t cols;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << (c.dtype == DType::kF4E2M1 ? "NVFP4" : name_of(c.dtype)) << ' ' << c.outputs << " x " << c.cols;
}

// The values of x (rows, cols) after quantize(): f16 times a power of two of their 128 columns.
std::vector<float> rounded(std::vector<float> x, int64_t cols) {
  for (size_t first = 0; first < x.size(); first += cols) {
    for (int64_t col = 0; col < cols; col += 128) {
      const auto block = std::span(x).subspan(first + col, std::min<int64_t>(128, cols - col));
      float largest = 1e-30f;
      for (const float value : block) largest = std::max(largest, std::fabs(value));
      const int exponent = 14 - std::ilogb(largest);
      for (float& value : block) {
        value = std::ldexp(gpu::f16_to_float(gpu::float_to_f16(std::ldexp(value, exponent))), -exponent);
      }
    }
  }
  return x;
}

class CodedTest : public ::testing::TestWithParam<Case> {
 protected:
  const int32_t cols = GetParam().cols;
  const int64_t outputs = GetParam().outputs;
  const StoredMatrix stored = random_matrix(GetParam().dtype, outputs, cols, 1, Scaling::kRow);
  const std::unique_ptr<gpu::DeviceWeights> weights = packed();

  // From two parts, whose border lies within a strip.
  std::unique_ptr<gpu::DeviceWeights> packed() const {
    const MatrixPart parts[] = {stored.part(0, 27), stored.part(27, outputs - 27)};
    // An order that these types do not have.
    return gpu::Packer(device()).pack(parts, DType::kBF16, gpu::TileOrder::kSwizzled, [](uint64_t) {});
  }

  // Of the reference, (outputs, cols).
  std::vector<float> values() const {
    ReferenceBackend reference;
    std::vector<int32_t> ids(outputs);
    for (int64_t i = 0; i < outputs; ++i) ids[i] = static_cast<int32_t>(i);
    std::vector<float> all(outputs * cols);
    reference.gather(*pack(reference, stored), ids, all.data());
    return all;
  }

  std::vector<float> times(const std::vector<float>& x, int64_t rows, int32_t multiprocessors) const {
    gpu::DeviceMatrix matrix = weights->bands.front().matrix;
    matrix.multiprocessors = multiprocessors;
    const DeviceArray<float> in(x), out(rows * outputs, NAN);
    const DeviceArray<std::byte> workspace(gpu::matmul_workspace(matrix, rows), std::byte{0xff});
    for (const gpu::Launch& launch : gpu::matmul(matrix, in.data(), rows, workspace.data(), out.data())) {
      run(launch);
    }
    return out.host();
  }

  void expect_as_reference(int64_t rows, int32_t multiprocessors) const {
    SCOPED_TRACE(rows);
    std::vector<float> x = random_floats(rows * cols, static_cast<uint32_t>(rows));
    for (int64_t i = 0; i < rows; ++i) x[i * cols + i % cols] *= 3e5f;  // beyond f16
    const std::vector<float> actual = times(x, rows, multiprocessors);
    const std::vector<float> in = rounded(x, cols);
    const std::vector<float> w = values();
    for (int64_t i = 0; i < rows * outputs; ++i) {
      double sum = 0;
      double magnitude = 0;
      for (int64_t k = 0; k < cols; ++k) {
        const double term = double{in[i / outputs * cols + k]} * w[i % outputs * cols + k];
        sum += term;
        magnitude += std::fabs(term);
      }
      ASSERT_NEAR(actual[i], sum, kTolerance * magnitude * spread()) << "element " << i;
    }
  }

  // What rounds is larger than the difference between products and minima: as large as a code where that is
  // close to its zero point.
  float spread() const {
    const DType type = GetParam().dtype;
    return !gpu::has_minima(type) ? 1 : type == DType::kInt8 ? 128 : 8;
  }
};

TEST_P(CodedTest, HoldsTheStoredValues) {
  std::vector<int32_t> ids(outputs);
  for (int64_t i = 0; i < outputs; ++i) ids[i] = static_cast<int32_t>(i);
  ids[1] = kNoRow;
  const DeviceArray<int32_t> list(ids);
  const DeviceArray<float> out(outputs * cols, NAN);
  run(gpu::gather(weights->bands.front().matrix, list.data(), outputs, out.data()));
  std::vector<float> expected = values();
  std::fill_n(expected.begin() + cols, cols, 0.0f);
  expect_close(out.host(), expected, 0.0f, "rows");
}

// Loads of one word, of two and of four, each on a border of its own size (coded_operands.h).
TEST_P(CodedTest, LiesOnTheBordersOfLoads) {
  const DType type = GetParam().dtype;
  const auto border = [](int32_t bytes) { return bytes % 16 == 0 ? 16 : bytes; };
  const int32_t codes = gpu::code_bytes(type);
  const int32_t highs = (codes - gpu::low_bytes(type)) / gpu::kWarpSize;
  const int32_t scales = gpu::lanes_scale_bytes(type);
  const int32_t common = gpu::common_bytes(type) / gpu::kFragmentOutputs * gpu::kSumOutputs;
  EXPECT_EQ(gpu::low_bytes(type) % (16 * gpu::kWarpSize), 0);
  EXPECT_EQ(gpu::coded_bytes(type) % 16, 0);
  for (const auto& [begin, bytes] : {std::pair(gpu::low_bytes(type), highs), std::pair(codes, scales),
                                     std::pair(codes + gpu::group_scale_bytes(type), common)}) {
    if (bytes == 0) continue;
    EXPECT_TRUE(bytes == 4 || bytes == 8 || bytes % 16 == 0) << bytes;
    EXPECT_EQ(begin % border(bytes), 0) << "from " << begin;
  }
}

// checkpoint/src/weights/rank-weights.test.ts has the same, of 64 outputs by 128 columns.
TEST_P(CodedTest, TakesWhatWasPlanned) {
  const std::map<DType, int64_t> row_bytes = {
      {DType::kF4E2M1, 72}, {DType::kQ4_0, 72},   {DType::kMXFP4, 72}, {DType::kQ4_1, 80},
      {DType::kInt4, 80},   {DType::kQ4_K, 76},   {DType::kQ2_K, 84},  {DType::kQ3_K, 74},
      {DType::kI8, 128},    {DType::kQ8_0, 136},  {DType::kQ5_0, 88},  {DType::kIQ4_NL, 72},
      {DType::kQ6_K, 106},  {DType::kIQ4_XS, 70}, {DType::kQ5_K, 92},  {DType::kQ5_1, 96},
      {DType::kInt8, 144}};
  const DType type = GetParam().dtype;
  const int64_t tiles = (outputs + 63) / 64 * ((cols + 127) / 128);
  const int64_t of_rows = has_scales(type) ? 4 * outputs : 0;
  EXPECT_EQ(weights->bytes, static_cast<size_t>(tiles * 64 * row_bytes.at(type) + of_rows));
}

TEST_P(CodedTest, MultipliesAsTheReference) {
  // One and two fragments of tokens, whole and in part; then blocks of the most, and walked ones.
  for (const int64_t rows : {1, kFragmentTokens, kFragmentTokens + 1, 3 * kFragmentTokens - 1}) {
    expect_as_reference(rows, kSlices);
  }
  expect_as_reference(gpu::kWalkTokens + 3, kWalks);
}

TEST_P(CodedTest, GivesARowTheSameBitsInAnyCompany) {
  const int64_t rows = gpu::kWalkTokens + 5;
  const std::vector<float> x = random_floats(rows * cols, 3);
  const std::vector<float> walked = times(x, rows, kWalks);
  expect_same_bits(times(x, rows, kSlices), walked, "all rows by slices");
  for (const int64_t count : {1, kFragmentTokens + 3}) {
    for (const int64_t first : {int64_t{7}, rows - count}) {
      const std::vector<float> part(x.begin() + first * cols, x.begin() + (first + count) * cols);
      expect_same_bits(times(part, count, kWalks),
                       std::span(walked).subspan(first * outputs, count * outputs),
                       std::to_string(count) + " rows from " + std::to_string(first));
    }
  }
}

TEST_P(CodedTest, KeepsAFaultInItsRow) {
  std::vector<float> x = random_floats(4 * cols, 4);
  const std::vector<float> sound = times(x, 4, kSlices);
  x[cols + cols / 2] = NAN;
  x[2 * cols + cols - 1] = INFINITY;
  const std::vector<float> out = times(x, 4, kSlices);
  for (int64_t i = outputs; i < 3 * outputs; ++i) ASSERT_FALSE(std::isfinite(out[i])) << i;
  expect_same_bits(std::span(out).first(outputs), std::span(sound).first(outputs), "row 0");
  expect_same_bits(std::span(out).last(outputs), std::span(sound).last(outputs), "row 3");
}

// Fewer blocks of K than slices, and more; K that ends within a block; outputs that end within a tile, a
// strip, a run of four.
INSTANTIATE_TEST_SUITE_P(Cases, CodedTest,
                         ::testing::Values(Case{DType::kF4E2M1, 72, 1104}, Case{DType::kF4E2M1, 33, 144},
                                           Case{DType::kQ4_0, 70, 608}, Case{DType::kQ4_0, 64, 320},
                                           Case{DType::kQ8_0, 49, 416}, Case{DType::kMXFP4, 70, 608},
                                           Case{DType::kMXFP4, 33, 160}, Case{DType::kI8, 90, 333},
                                           Case{DType::kQ4_K, 70, 768}, Case{DType::kQ6_K, 106, 512},
                                           Case{DType::kQ4_1, 70, 608}, Case{DType::kQ5_0, 88, 416},
                                           Case{DType::kQ5_1, 96, 160}, Case{DType::kQ5_K, 92, 768},
                                           Case{DType::kQ2_K, 45, 1280}, Case{DType::kQ3_K, 33, 512},
                                           Case{DType::kIQ4_NL, 33, 160}, Case{DType::kIQ4_XS, 70, 768},
                                           Case{DType::kInt4, 72, 1120}, Case{DType::kInt8, 90, 352}));

}  // namespace
}  // namespace llmservice::testing
