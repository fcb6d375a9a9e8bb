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

  std::vector<float> host_of(float* values, int64_t count) {
    const std::span<float> there = backend.to_host(values, count);
    return {there.begin(), there.end()};
  }

  Names launched;
  gpu::GpuBackend backend{{.graphs = 0, .on_list = [this](gpu::Device&, const gpu::LaunchList& list) {
                             for (const gpu::Launch& launch : list.launches())
                               launched.emplace_back(launch.name);
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
  EXPECT_EQ(launched.front(), "add_rms_norm_quantize");
  EXPECT_EQ(launched.size(), 2u);

  launched.clear();
  norm_into(of(normed));
  backend.submit();  // the product comes later
  EXPECT_EQ(product_of(of(normed)), together);
  EXPECT_EQ((Names{launched.begin(), launched.begin() + 2}), (Names{"add_rms_norm", "quantize"}));

  launched.clear();
  backend.silu_mul(of(gates), kRows, kWidth, of(normed));
  product_of(of(normed));
  backend.sigmoid_mul(of(normed), of(gates), 2 * kWidth, kRows, kWidth);
  product_of(of(normed));
  EXPECT_EQ(launched[0] + " " + launched[2], "silu_mul_quantize sigmoid_mul_quantize");
}

TEST_F(BackendTest, AnOpDoesNotWhereTheProductReadsOtherThings) {
  norm_into(of(normed));
  product_of(of(y));
  EXPECT_EQ((Names{launched.begin(), launched.begin() + 2}), (Names{"add_rms_norm", "quantize"}));

  launched.clear();
  norm_into(of(normed));
  product_of(of(normed), 2);  // fewer rows than were made
  EXPECT_EQ((Names{launched.begin(), launched.begin() + 2}), (Names{"add_rms_norm", "quantize"}));

  launched.clear();
  norm_into(of(normed));
  backend.silu_mul(of(gates), kRows, kWidth, of(y));  // between them
  product_of(of(normed));
  EXPECT_EQ((Names{launched.begin(), launched.begin() + 3}), (Names{"add_rms_norm", "silu_mul", "quantize"}));
}

// By one product and by two of different types; what another op has come behind, or a product reads that
// quantizes it anew, is written.
TEST_F(BackendTest, ANormDoesNotWriteWhatProductsAloneHaveRead) {
  const StoredMatrix stored = random_matrix(DType::kF8E4M3, 192, kWidth, 8);
  const MatrixPart part = stored.part(0, 192);
  const auto eight_bits = backend.pack({&part, 1}, DType::kBF16, [](uint64_t) {});
  backend.reserve({.rows = 64, .sequences = 4, .longest = 64, .block_size = 16, .result = 4 * kRows * 256});
  const auto big = floats(kRows * 192);
  const std::vector<float> none(kRows * kWidth, NAN);
  // Whether all of it is written where some products come before it is forgotten.
  const auto writes = [&](const auto& readers) {
    backend.upload_now(std::as_bytes(std::span(none)), of(normed));
    norm_into(of(normed));
    readers();
    backend.forget(of(normed));
    const std::vector<float> said = host_of(of(normed), kRows * kWidth);
    const auto missing = std::ranges::count_if(said, [](float value) { return std::isnan(value); });
    EXPECT_TRUE(missing == 0 || missing == kRows * kWidth);
    return missing == 0;
  };
  const auto small_product = [&] { backend.matmul(*matrix, of(normed), kRows, of(out)); };
  const auto big_product = [&] { backend.matmul(*eight_bits, of(normed), kRows, of(big)); };
  EXPECT_FALSE(writes(small_product));
  EXPECT_FALSE(writes([&] { small_product(), small_product(); }));
  EXPECT_FALSE(writes([&] { small_product(), big_product(); }));
  EXPECT_EQ(std::ranges::count(launched, "add_rms_norm_quantize_both"), 1);
  EXPECT_TRUE(writes([&] { small_product(), big_product(), big_product(); }));
  EXPECT_TRUE(writes([&] { small_product(), backend.scale(of(y), kRows * kWidth, 1); }));
  EXPECT_TRUE(writes([&] { small_product(), backend.submit(); }));
  EXPECT_TRUE(writes([&] { backend.matmul(*matrix, of(normed), 2, of(out)); }));
  EXPECT_TRUE(writes([] {}));
}

// As the inputs of Gated DeltaNet and of its gates are made of one norm.
TEST_F(BackendTest, ANormQuantizesForTwoProductsOfDifferentTypes) {
  const StoredMatrix stored = random_matrix(DType::kF8E4M3, 192, kWidth, 8);
  const MatrixPart part = stored.part(0, 192);
  const auto eight_bits = backend.pack({&part, 1}, DType::kBF16, [](uint64_t) {});
  backend.reserve({.rows = 64, .sequences = 4, .longest = 64, .block_size = 16, .result = 4 * kRows * 256});
  const auto big = floats(kRows * 192), small = floats(kRows * 64);
  const auto products = [&](bool at_once) {
    norm_into(of(normed));
    if (!at_once) backend.submit();
    backend.matmul(*matrix, of(normed), kRows, of(small));
    if (!at_once) backend.submit();
    backend.matmul(*eight_bits, of(normed), kRows, of(big));
    backend.matmul(*eight_bits, of(normed), kRows, of(big));
    std::vector<float> said = host_of(of(small), kRows * 64);
    std::ranges::copy(host_of(of(big), kRows * 192), std::back_inserter(said));
    return said;
  };
  const std::vector<float> apart = products(false);
  EXPECT_EQ((Names{launched.begin(), launched.begin() + 2}), (Names{"add_rms_norm", "quantize"}));
  EXPECT_EQ(launched.size(), 6u);  // the last two products read the same activations
  launched.clear();
  expect_same_bits(products(true), apart, "products");
  EXPECT_EQ(launched.front(), "add_rms_norm_quantize_both");
  EXPECT_EQ(std::ranges::count(launched, "quantize"), 1);  // for the third product, whose room the first has
}

// Products with one another's first weights on the way, where the device's can.
TEST_F(BackendTest, TuningChangesNoBit) {
  std::vector<std::vector<float>> said;
  for (const gpu::ProductTuning& tuning :
       {gpu::ProductTuning{}, gpu::ProductTuning{.resident = 2, .ahead_bytes = 1 << 20}}) {
    backend.tune(tuning);
    norm_into(of(normed));
    backend.matmul(*matrix, of(y), kRows, of(out));
    said.push_back(product_of(of(normed)));
    said.push_back(product_of(of(y)));
  }
  EXPECT_EQ(said[0], said[2]);
  EXPECT_EQ(said[1], said[3]);
  EXPECT_NE(said[0], said[1]);
}

TEST_F(BackendTest, MatricesOfSixteenBitsAloneAreNarrowed) {
  const StoredMatrix stored = random_matrix(DType::kF8E4M3, 64, kWidth, 8);
  const MatrixPart part = stored.part(0, 64);
  const auto held = backend.pack({&part, 1}, DType::kBF16, [](uint64_t) {});
  EXPECT_EQ(backend.narrowed(*held), nullptr);
  const std::unique_ptr<Matrix> narrow = backend.narrowed(*matrix);
  ASSERT_NE(narrow, nullptr);
  backend.reserve({.rows = 8, .sequences = 4, .longest = 64, .block_size = 16, .result = 64});
  const std::vector<float> wide = product_of(of(y));
  backend.matmul(*narrow, of(y), kRows, of(out));
  expect_close(backend.to_host(of(out), 64), wide, 0.5f, "products");
}

// As q, k and v of files in Q4_K_M are.
TEST_F(BackendTest, PartsOfDifferentTypesRunOneAfterTheOther) {
  const StoredMatrix stored[] = {
      random_matrix(DType::kQ4_K, 40, kWidth, 4), random_matrix(DType::kQ4_K, 24, kWidth, 5),
      random_matrix(DType::kQ6_K, 36, kWidth, 6), random_matrix(DType::kBF16, 17, kWidth, 7)};
  std::vector<MatrixPart> parts;
  int64_t outputs = 0;
  for (const StoredMatrix& part : stored) {
    parts.push_back(part.part(0, part.rows));
    outputs += part.rows;
  }
  const auto pack = [&](std::span<const MatrixPart> some) {
    return backend.pack(some, DType::kBF16, [](uint64_t) {});
  };
  const std::unique_ptr<Matrix> mixed = pack(parts);
  const std::unique_ptr<Matrix> alone[] = {
      pack(std::span(parts).first(2)), pack(std::span(parts).subspan(2, 1)), pack(std::span(parts).last(1))};
  EXPECT_EQ(mixed->bytes, alone[0]->bytes + alone[1]->bytes + alone[2]->bytes);
  backend.reserve({.rows = 64,
                   .sequences = 4,
                   .longest = 64,
                   .block_size = 16,
                   .result = static_cast<size_t>(kRows * outputs)});
  const std::unique_ptr<Buffer> all = floats(kRows * outputs);

  norm_into(of(normed));
  backend.matmul(*mixed, of(normed), kRows, of(all));
  const std::span<float> there = backend.to_host(of(all), kRows * outputs);
  const std::vector<float> together(there.begin(), there.end());
  // The coded types take one form of activations, BF16 another.
  EXPECT_EQ(launched,
            (Names{"add_rms_norm_quantize_both", "matmul_fragments", "matmul_fragments", launched.back()}));

  int64_t first = 0;
  for (const std::unique_ptr<Matrix>& part : alone) {
    backend.matmul(*part, of(normed), kRows, of(all));
    const std::span<float> own = backend.to_host(of(all), kRows * part->rows);
    for (int64_t row = 0; row < kRows; ++row) {
      expect_same_bits(std::span(together).subspan(row * outputs + first, part->rows),
                       own.subspan(row * part->rows, part->rows), "outputs from " + std::to_string(first));
    }
    first += part->rows;
  }
}

// As GPTQ's with desc_act are.
TEST_F(BackendTest, ColumnsInAnotherOrderMeetTheirActivations) {
  const StoredMatrix stored = random_matrix(DType::kInt4, 64, kWidth, 9);
  MatrixPart part = stored.part(0, 64);
  const auto pack = [&] { return backend.pack({&part, 1}, DType::kBF16, [](uint64_t) {}); };
  const std::unique_ptr<Matrix> in_order = pack();
  for (int32_t i = 0; i < kWidth; ++i) part.order.push_back((i * 37 + 11) % kWidth);
  const std::unique_ptr<Matrix> reordered = pack();
  EXPECT_EQ(reordered->bytes, in_order->bytes + kWidth * sizeof(int32_t));
  backend.reserve({.rows = 8, .sequences = 4, .longest = 64, .block_size = 16, .result = kRows * kWidth});

  norm_into(of(normed));
  backend.matmul(*reordered, of(normed), kRows, of(out));
  const std::span<float> there = backend.to_host(of(out), kRows * 64);
  const std::vector<float> product(there.begin(), there.end());
  EXPECT_EQ(launched, (Names{"add_rms_norm", "quantize_in_order", "matmul_fragments"}));

  const std::span<float> given = backend.to_host(of(normed), kRows * kWidth);
  std::vector<float> placed;
  for (int64_t row = 0; row < kRows; ++row) {
    for (const int32_t column : part.order) placed.push_back(given[row * kWidth + column]);
  }
  backend.upload_now(std::as_bytes(std::span(placed)), of(y));
  backend.matmul(*in_order, of(y), kRows, of(out));
  expect_same_bits(backend.to_host(of(out), kRows * 64), product, "products");
}

}  // namespace
}  // namespace llmservice::testing
