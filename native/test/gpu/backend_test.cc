// What the backend makes of ops that follow one another.
#include "backends/gpu/backend.h"

#include "gpu_support.h"

namespace llmservice::testing {
namespace {

using Names = std::vector<std::string>;

class BackendTest : public ::testing::Test {
 protected:
  static constexpr int64_t kRows = 3;
  static constexpr int64_t kWidth = 256;

  BackendTest() {
    backend.upload(std::as_bytes(std::span(weight)), norm->data());
    backend.upload(std::as_bytes(std::span(update)), y->data());
    backend.reserve({.rows = 8, .sequences = 4, .longest = 64, .block_size = 16, .result = 64});
  }

  std::unique_ptr<Matrix> pack() {
    const std::vector<float> values = random_floats(64 * kWidth, 1);
    const MatrixPart part{
        .dtype = DType::kF32,
        .rows = 64,
        .cols = kWidth,
        .read =
            [&](uint64_t offset, std::span<std::byte> out) {
              std::memcpy(out.data(), reinterpret_cast<const std::byte*>(values.data()) + offset, out.size());
            },
        .scales = {}};
    return backend.pack(std::span(&part, 1), DType::kBF16, [](uint64_t) {});
  }
  std::unique_ptr<Buffer> floats(int64_t count) { return backend.allocate(count * sizeof(float)); }
  static float* of(const std::unique_ptr<Buffer>& buffer) { return static_cast<float*>(buffer->data()); }

  // Residual zero, plus y, normed.
  void norm_into(float* out) {
    x = floats(kRows * kWidth);
    backend.add_rms_norm(of(x), of(y), of(norm), 1e-6f, kRows, kWidth, out, {});
  }
  std::vector<float> product_of(const float* in, int64_t rows = kRows) {
    backend.matmul(*matrix, in, rows, of(out));
    const std::span<float> there = backend.to_host(of(out), 64);
    return {there.begin(), there.end()};
  }

  Names told;
  gpu::GpuBackend backend{{.graphs = 0, .on_list = [this](gpu::Device&, const gpu::LaunchList& list) {
                             for (const gpu::Launch& launch : list.launches()) told.emplace_back(launch.name);
                           }}};
  const std::vector<float> weight = random_floats(kWidth, 2);
  const std::vector<float> update = random_floats(kRows * kWidth, 3);
  const std::unique_ptr<Matrix> matrix = pack();
  std::unique_ptr<Buffer> x;
  const std::unique_ptr<Buffer> norm = floats(kWidth), y = floats(kRows * kWidth), out = floats(kRows * 64),
                                normed = floats(kRows * kWidth), gates = floats(2 * kRows * kWidth);
};

TEST_F(BackendTest, AnOpQuantizesWhatAProductReadsNext) {
  norm_into(of(normed));
  const std::vector<float> together = product_of(of(normed));
  EXPECT_EQ(told.front(), "add_rms_norm_quantize");
  EXPECT_EQ(told.size(), 2u);

  told.clear();
  norm_into(of(normed));
  backend.submit();  // the product comes later
  EXPECT_EQ(product_of(of(normed)), together);
  EXPECT_EQ((Names{told.begin(), told.begin() + 2}), (Names{"add_rms_norm", "quantize"}));

  told.clear();
  backend.silu_mul(of(gates), kRows, kWidth, of(normed));
  product_of(of(normed));
  backend.sigmoid_mul(of(normed), of(gates), 2 * kWidth, kRows, kWidth);
  product_of(of(normed));
  EXPECT_EQ(told[0] + " " + told[2], "silu_mul_quantize sigmoid_mul_quantize");
}

TEST_F(BackendTest, AnOpDoesNotWhereTheProductReadsOtherThings) {
  norm_into(of(normed));
  product_of(of(y));
  EXPECT_EQ((Names{told.begin(), told.begin() + 2}), (Names{"add_rms_norm", "quantize"}));

  told.clear();
  norm_into(of(normed));
  product_of(of(normed), 2);  // fewer rows than were made
  EXPECT_EQ((Names{told.begin(), told.begin() + 2}), (Names{"add_rms_norm", "quantize"}));

  told.clear();
  norm_into(of(normed));
  backend.silu_mul(of(gates), kRows, kWidth, of(y));  // between them
  product_of(of(normed));
  EXPECT_EQ((Names{told.begin(), told.begin() + 3}), (Names{"add_rms_norm", "silu_mul", "quantize"}));
}

}  // namespace
}  // namespace llmservice::testing
