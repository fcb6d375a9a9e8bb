// Products with weights in the order of matrix fragments, against the reference on the same quantized
// numbers, and against themselves: a row's bits are the same alone and among others, in every shape of block.
#include "backends/gpu/kernels/fragment_products.h"
#include "backends/gpu/kernels/matmul.h"
#include "gpu_support.h"

namespace llmservice::testing {
namespace {

using gpu::kFragmentTokens;

// Of the sum of the products' magnitudes. NVIDIA sums the eight-bit products of an instruction in about 14
// bits.
float tolerance(DType dtype) {
  return dtype == DType::kF8E4M3 && std::string_view(gpu::kVendor) == "cuda" ? 0x1p-12f : 2e-6f;
}

// What the kernels make of x (T, K) before they multiply.
std::vector<float> as_quantized(DType dtype, const std::vector<float>& x, int64_t cols) {
  std::vector<float> out = x;
  const int64_t rows = static_cast<int64_t>(x.size()) / cols;
  for (float& value : out) {
    if (dtype == DType::kBF16) value = gpu::bf16_to_float(gpu::float_to_bf16(value));
    if (dtype == DType::kF16) value = gpu::f16_to_float(gpu::float_to_f16(value));
  }
  for (int64_t row = 0; row < rows && dtype == DType::kF8E4M3; ++row) {
    for (int64_t first = 0; first < cols; first += gpu::kScaleColumns) {
      const std::span<float> block(&out[row * cols + first],
                                   std::min<int64_t>(gpu::kScaleColumns, cols - first));
      float largest = 1e-30f;
      for (const float value : block) largest = std::max(largest, std::fabs(value));
      const float inverse = gpu::kFp8Max / largest;
      for (float& value : block) {
        value = gpu::fp8_to_float(gpu::float_to_fp8(value * inverse)) * (largest / gpu::kFp8Max);
      }
    }
  }
  return out;
}

std::vector<float> magnitudes(std::vector<float> values) {
  for (float& value : values) value = std::fabs(value);
  return values;
}

struct Case {
  DType dtype;
  int32_t scale_rows;
  int32_t outputs;
  int32_t cols;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << name_of(c.dtype) << ' ' << c.outputs << " x " << c.cols << ", scales of " << c.scale_rows;
}

class Product {
 public:
  explicit Product(const Case& c)
      : stored_(random_matrix(c.dtype, c.outputs, c.cols, 1,
                              c.scale_rows == 1 ? Scaling::kRow : Scaling::kBlock)),
        tiles_(gpu::tile_bytes(c.dtype, c.outputs, c.cols), std::byte{0}),
        scales_(device_scales(c)),
        matrix_{.tiles = tiles_.data(),
                .scales = c.dtype == DType::kF8E4M3 ? scales_.data() : nullptr,
                .scale_rows = c.scale_rows,
                .dtype = c.dtype,
                .order = gpu::TileOrder::kFragments,
                .rows = c.outputs,
                .cols = c.cols,
                .multiprocessors = 4} {
    const DeviceArray<std::byte> rows(stored_.data);
    run(gpu::pack_rows(matrix_, tiles_.data(), rows.data(), 0, c.outputs));
  }

  const gpu::DeviceMatrix& matrix() const { return matrix_; }
  float weight(int64_t row, int64_t col) const { return stored_.value(row, col) * stored_.scale(row, col); }

  // With as few multiprocessors as given, large blocks fill the device the sooner.
  std::vector<float> times(std::span<const float> x, int32_t multiprocessors) const {
    const int64_t rows = static_cast<int64_t>(x.size()) / matrix_.cols;
    gpu::DeviceMatrix matrix = matrix_;
    matrix.multiprocessors = multiprocessors;
    const DeviceArray<float> in(x), out(rows * matrix.rows, NAN);
    const DeviceArray<std::byte> workspace(gpu::matmul_workspace(matrix, rows), std::byte{0});
    for (const gpu::Launch& launch : gpu::matmul(matrix, in.data(), rows, workspace.data(), out.data()))
      run(launch);
    return out.host();
  }

  void expect_as_reference(const std::vector<float>& x, const std::vector<float>& actual) const {
    const int64_t rows = static_cast<int64_t>(x.size()) / matrix_.cols;
    const std::vector<float> quantized = as_quantized(matrix_.dtype, x, matrix_.cols);
    std::vector<float> expected(actual.size()), sizes(actual.size());
    multiply(quantized, rows, false, expected);
    multiply(magnitudes(quantized), rows, true, sizes);
    for (size_t i = 0; i < actual.size(); ++i) {
      ASSERT_LE(std::fabs(actual[i] - expected[i]), tolerance(matrix_.dtype) * sizes[i])
          << "row " << i / matrix_.rows << ", output " << i % matrix_.rows << ": " << actual[i]
          << ", expected " << expected[i];
    }
  }

 private:
  // (blocks of K, ceil(outputs / scale_rows)).
  std::vector<float> device_scales(const Case& c) const {
    std::vector<float> scales;
    for (int64_t col = 0; col < c.cols; col += gpu::kScaleColumns) {
      for (int64_t row = 0; row < c.outputs; row += c.scale_rows) {
        scales.push_back(stored_.scale(row, col) * gpu::kStoredFp8Scale);
      }
    }
    return scales;
  }

  void multiply(const std::vector<float>& x, int64_t rows, bool by_magnitudes,
                std::vector<float>& out) const {
    StoredMatrix plain{DType::kF32, stored_.rows, stored_.cols, {}, {}, {}, {}};
    plain.data.resize(stored_.rows * stored_.cols * sizeof(float));
    for (int64_t i = 0; i < stored_.rows * stored_.cols; ++i) {
      const int64_t row = i / stored_.cols;
      const int64_t col = i % stored_.cols;
      const float value = weight(row, col);
      const float kept = by_magnitudes ? std::fabs(value) : value;
      std::memcpy(&plain.data[i * sizeof(float)], &kept, sizeof kept);
    }
    ReferenceBackend reference;
    const auto matrix = pack(reference, plain, DType::kF32);
    reference.matmul(*matrix, x.data(), rows, out.data());
  }

  StoredMatrix stored_;
  DeviceArray<std::byte> tiles_;
  DeviceArray<float> scales_;
  gpu::DeviceMatrix matrix_;
};

constexpr int32_t kFewProcessors = 1;
constexpr int32_t kManyProcessors = 1'000'000;

class MatmulFragmentsTest : public ::testing::TestWithParam<Case> {};

TEST_P(MatmulFragmentsTest, MultipliesAsTheReference) {
  const Product product(GetParam());
  // One and two fragments of tokens, whole and in part; then blocks of four, and walked ones.
  for (const int64_t rows : {1, kFragmentTokens, kFragmentTokens + 1, 3 * kFragmentTokens - 1}) {
    SCOPED_TRACE(rows);
    const std::vector<float> x = random_floats(rows * GetParam().cols, static_cast<uint32_t>(rows));
    product.expect_as_reference(x, product.times(x, kManyProcessors));
  }
  const std::vector<float> x = random_floats((gpu::kWalkTokens + 3) * GetParam().cols, 9);
  product.expect_as_reference(x, product.times(x, kFewProcessors));
}

TEST_P(MatmulFragmentsTest, GivesARowTheSameBitsInAnyCompany) {
  const Product product(GetParam());
  const int32_t cols = GetParam().cols;
  const int64_t outputs = GetParam().outputs;
  const int64_t rows = gpu::kWalkTokens + 5;
  const std::vector<float> x = random_floats(rows * cols, 3);
  const std::vector<float> walked = product.times(x, kFewProcessors);
  expect_same_bits(product.times(x, kManyProcessors), walked, "all rows by slices");
  const std::span<const float> all(walked);
  const std::span<const float> in(x);
  for (const int64_t count : {1, kFragmentTokens + 3}) {
    for (const int64_t first : {int64_t{7}, rows - count}) {
      expect_same_bits(product.times(in.subspan(first * cols, count * cols), kFewProcessors),
                       all.subspan(first * outputs, count * outputs),
                       std::to_string(count) + " rows from " + std::to_string(first));
    }
  }
}

TEST_P(MatmulFragmentsTest, KeepsAFaultInItsRow) {
  const Product product(GetParam());
  const int32_t cols = GetParam().cols;
  const int64_t outputs = GetParam().outputs;
  std::vector<float> x = random_floats(3 * cols, 4);
  const std::vector<float> sound = product.times(x, kManyProcessors);
  x[cols + cols / 2] = NAN;
  const std::vector<float> out = product.times(x, kManyProcessors);
  for (int64_t i = outputs; i < 2 * outputs; ++i) ASSERT_TRUE(std::isnan(out[i])) << i;
  expect_same_bits(std::span(out).first(outputs), std::span(sound).first(outputs), "row 0");
  expect_same_bits(std::span(out).last(outputs), std::span(sound).last(outputs), "row 2");
}

TEST_P(MatmulFragmentsTest, GathersWhatItPacked) {
  const Product product(GetParam());
  const int32_t last = GetParam().outputs - 1;
  const std::vector<int32_t> ids = {last, kNoRow, 17, 0};
  const DeviceArray<int32_t> list(ids);
  const DeviceArray<float> out(ids.size() * GetParam().cols, NAN);
  run(gpu::gather(product.matrix(), list.data(), static_cast<int64_t>(ids.size()), out.data()));
  const std::vector<float> rows = out.host();
  for (size_t i = 0; i < rows.size(); ++i) {
    const int32_t id = ids[i / GetParam().cols];
    ASSERT_EQ(rows[i], id == kNoRow ? 0.0f : product.weight(id, i % GetParam().cols)) << i;
  }
}

// Fewer blocks of K than slices, and more; outputs that end within a tile, a strip, a run of four.
INSTANTIATE_TEST_SUITE_P(Cases, MatmulFragmentsTest,
                         ::testing::Values(Case{DType::kF8E4M3, 64, 80, 1100},
                                           Case{DType::kF8E4M3, 1, 33, 384},
                                           Case{DType::kF8E4M3, 64, 64, 130}, Case{DType::kBF16, 1, 70, 600},
                                           Case{DType::kF16, 1, 48, 258}));

}  // namespace
}  // namespace llmservice::testing
