// For tests of products: stored matrices packed on the device, and what the reference makes of the same
// numbers, activations rounded as the device rounds them.
#pragma once

#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/kernels/numbers.h"
#include "gpu_support.h"

namespace llmservice::testing {

inline void run(const gpu::Launches& launches) {
  for (const gpu::Launch& launch : launches) run(launch);
}

// A stored matrix as a DeviceMatrix. Its rows are packed in windows of `window`.
class PackedMatrix {
 public:
  PackedMatrix(const StoredMatrix& stored, gpu::TileOrder order, int32_t multiprocessors, int32_t window)
      : tiles_(gpu::tile_bytes(stored.dtype, stored.rows, stored.cols), std::byte{0}),
        scales_(device_scales(stored)),
        matrix_{.tiles = tiles_.data(),
                .scales = stored.dtype == DType::kF8E4M3 ? scales_.data() : nullptr,
                .scale_rows = scale_rows(stored),
                .dtype = stored.dtype,
                .order = order,
                .rows = static_cast<int32_t>(stored.rows),
                .cols = static_cast<int32_t>(stored.cols),
                .stride = static_cast<int32_t>(stored.rows),
                .multiprocessors = multiprocessors} {
    const int64_t row_bytes = bytes_of(stored.dtype, stored.cols);
    for (int32_t first = 0; first < matrix_.rows; first += window) {
      const int32_t count = std::min(window, matrix_.rows - first);
      const DeviceArray<std::byte> rows(std::span(stored.data).subspan(first * row_bytes, count * row_bytes));
      run(gpu::pack_rows(matrix_, tiles_.data(), rows.data(), first, count));
    }
  }

  const gpu::DeviceMatrix& operator*() const { return matrix_; }

  // out (rows, N). The counters are found as they must be left.
  std::vector<float> times(const std::vector<float>& x, int64_t rows) const {
    const DeviceArray<float> in(x), out(rows * matrix_.rows, NAN);
    const DeviceArray<std::byte> workspace(gpu::matmul_workspace(matrix_, rows), std::byte{0});
    run(gpu::matmul(matrix_, in.data(), rows, workspace.data(), out.data()));
    const std::vector<std::byte> after = workspace.host();
    for (int64_t i = 0; i < gpu::kCounterBytes; ++i) {
      if (after[i] != std::byte{0}) ADD_FAILURE() << "counter byte " << i << " is left";
    }
    return out.host();
  }

 private:
  static int32_t scale_rows(const StoredMatrix& stored) { return stored.scaling == Scaling::kRow ? 1 : 64; }

  static std::vector<float> device_scales(const StoredMatrix& stored) {
    if (stored.dtype != DType::kF8E4M3) return {NAN};
    std::vector<float> scales;
    for (int64_t col = 0; col < stored.cols; col += 128) {
      for (int64_t row = 0; row < stored.rows; row += scale_rows(stored)) {
        scales.push_back(stored.scale(row, col) * gpu::kStoredFp8Scale);
      }
    }
    EXPECT_EQ(static_cast<int64_t>(scales.size() * sizeof(float)),
              gpu::scale_bytes(stored.dtype, stored.rows, stored.cols, scale_rows(stored)));
    return scales;
  }

  DeviceArray<std::byte> tiles_;
  DeviceArray<float> scales_;
  gpu::DeviceMatrix matrix_;
};

// The values of x (rows, cols) after quantize() for weights of `dtype`.
inline std::vector<float> rounded(DType dtype, std::vector<float> x, int64_t cols) {
  for (size_t first = 0; first < x.size(); first += cols) {
    for (int64_t col = 0; col < cols; ++col) {
      float& value = x[first + col];
      if (dtype == DType::kBF16) value = llmservice::bf16_to_float(llmservice::float_to_bf16(value));
      if (dtype == DType::kF16) value = gpu::f16_to_float(gpu::float_to_f16(value));
    }
    for (int64_t col = 0; col < cols && dtype == DType::kF8E4M3; col += 128) {
      const auto block = std::span(x).subspan(first + col, std::min<int64_t>(128, cols - col));
      float largest = 1e-30f;
      for (const float value : block) largest = std::max(largest, std::fabs(value));
      const float inverse = gpu::kFp8Max / largest;
      for (float& value : block) {
        value = gpu::fp8_to_float(gpu::float_to_fp8(value * inverse)) * (largest / gpu::kFp8Max);
      }
    }
  }
  return x;
}

// Products (rows, N) of the rounded activations, and the sums of their terms' magnitudes.
struct ReferenceProduct {
  std::vector<float> values;
  std::vector<float> magnitudes;

  ReferenceProduct(StoredMatrix stored, const std::vector<float>& x, int64_t rows)
      : values(rows * stored.rows), magnitudes(values.size()) {
    std::vector<float> in = rounded(stored.dtype, x, stored.cols);
    ReferenceBackend reference;
    reference.matmul(*pack(reference, stored), in.data(), rows, values.data());
    for (float& value : in) value = std::fabs(value);
    for (float& scale : stored.scales) scale = std::fabs(scale);
    const size_t step = size_of(stored.dtype);
    for (size_t i = step - 1; i < stored.data.size(); i += step) stored.data[i] &= std::byte{0x7f};
    reference.matmul(*pack(reference, stored), in.data(), rows, magnitudes.data());
  }

  // Within `tolerance` of the magnitudes.
  void expect(std::span<const float> actual, float tolerance) const {
    ASSERT_EQ(actual.size(), values.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      if (!(std::fabs(actual[i] - values[i]) <= tolerance * magnitudes[i])) {
        FAIL() << "element " << i << " is " << actual[i] << ", expected " << values[i] << ", terms sum to "
               << magnitudes[i];
      }
    }
  }
};

}  // namespace llmservice::testing
