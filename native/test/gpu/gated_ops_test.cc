// The gated feed-forward layer as one op: the bits of its products and gates one by one, with few rows and in
// prompts, of matrices whose activations are read in one form, in several, and in another order.
#include "ops/gated_ops.h"

#include "backends/gpu/backend.h"
#include "gpu_support.h"

namespace llmservice::testing {
namespace {

constexpr int64_t kHidden = 256;
constexpr int64_t kWidth = 384;
constexpr int64_t kMostRows = 300;

class GatedOpsTest : public ::testing::TestWithParam<bool> {
 protected:
  GatedOpsTest() {
#if defined(LLMSERVICE_GPU_HOST)
    if (GetParam()) gpu::emulated_device().major = 9;
#endif
    backend = std::make_unique<gpu::GpuBackend>(
        gpu::GpuOptions{.graphs = 0, .on_list = [this](gpu::Device&, const gpu::LaunchList& list) {
                          for (const gpu::Launch& launch : list.launches())
                            launched.emplace_back(launch.name);
                        }});
    for (const auto& [buffer, count, seed] :
         {std::tuple{&update, kMostRows * kHidden, 3}, {&weight, kHidden, 4}}) {
      *buffer = floats(count);
      const std::vector<float> values = random_floats(count, seed);
      backend->upload(std::as_bytes(std::span(values)), (*buffer)->data());
    }
    x = floats(kMostRows * kHidden), normed = floats(kMostRows * kHidden),
    wide = floats(kMostRows * 2 * kWidth);
    mixed = floats(kMostRows * kWidth), out = floats(kMostRows * kHidden);
  }
  ~GatedOpsTest() override {
    for (auto* buffer : {&update, &weight, &x, &normed, &wide, &mixed, &out}) buffer->reset();
    backend.reset();
#if defined(LLMSERVICE_GPU_HOST)
    gpu::emulated_device() = {};
#endif
  }

  std::unique_ptr<Buffer> floats(int64_t count) { return backend->allocate(count * sizeof(float)); }
  static float* of(const std::unique_ptr<Buffer>& buffer) { return static_cast<float*>(buffer->data()); }
  std::unique_ptr<Matrix> pack(std::span<const MatrixPart> parts) {
    return backend->pack(parts, DType::kBF16, [](uint64_t) {});
  }
  std::unique_ptr<Matrix> pack(const MatrixPart& part) { return pack({&part, 1}); }
  std::vector<float> host_of(const std::unique_ptr<Buffer>& buffer, int64_t count) {
    const std::span<float> there = backend->to_host(of(buffer), count);
    return {there.begin(), there.end()};
  }

  std::vector<float> layer(bool as_one, const Matrix& gate_up, const Matrix& down, int64_t rows) {
    const std::vector<float> zeros(rows * kHidden), none(rows * kWidth, NAN);
    backend->upload_now(std::as_bytes(std::span(zeros)), of(x));
    for (const auto* unwritten : {&normed, &mixed})
      backend->upload_now(std::as_bytes(std::span(none).first(rows * kHidden)), of(*unwritten));
    launched.clear();
    backend->add_rms_norm(of(x), of(update), of(weight), 1e-6f, rows, kHidden, of(normed), {});
    if (as_one) {
      GatedOps& ops = *backend;
      ops.gated_matmul(gate_up, down, of(normed), rows, of(wide), of(mixed), of(out));
    } else {
      backend->matmul(gate_up, of(normed), rows, of(wide));
      backend->silu_mul(of(wide), rows, kWidth, of(mixed));
      backend->matmul(down, of(mixed), rows, of(out));
    }
    return host_of(out, rows * down.rows);
  }

  void reserve() {
    backend->reserve({.rows = kMostRows,
                      .sequences = 4,
                      .longest = 512,
                      .block_size = 16,
                      .result = static_cast<size_t>(kMostRows * kWidth)});
  }

  // Whether what the norm, and what the gates put out was written besides what the products read.
  struct Written {
    bool normed, mixed;

    bool operator==(const Written&) const = default;
  };
  Written expect_same(const Matrix& gate_up, const Matrix& down, int64_t rows) {
    reserve();
    const std::vector<float> apart = layer(false, gate_up, down, rows);
    expect_same_bits(layer(true, gate_up, down, rows), apart, std::to_string(rows) + " rows");
    const std::vector<std::string> names = launched;
    const Written wrote{!std::isnan(host_of(normed, 1).front()), !std::isnan(host_of(mixed, 1).front())};
    launched = names;
    return wrote;
  }

  std::vector<std::string> launched;
  std::unique_ptr<gpu::GpuBackend> backend;
  std::unique_ptr<Buffer> update, weight, x, normed, wide, mixed, out;
  const StoredMatrix gates = random_matrix(DType::kF8E4M3, 2 * kWidth, kHidden, 1);
  const StoredMatrix last = random_matrix(DType::kF8E4M3, kHidden, kWidth, 2);
};

TEST_P(GatedOpsTest, LeavesOutWhatNobodyReads) {
  const auto gate_up = pack(gates.part(0, 2 * kWidth));
  const auto down = pack(last.part(0, kHidden));
  EXPECT_EQ(expect_same(*gate_up, *down, 3), (Written{false, false}));
  EXPECT_EQ(launched[2], "silu_mul_quantize");
  EXPECT_EQ(expect_same(*gate_up, *down, kMostRows), (Written{false, false}));
#if defined(LLMSERVICE_GPU_HOST) && LLMSERVICE_WARP_SIZE == 32
  const std::vector<std::string> three = {"add_rms_norm_quantize", "matmul_gated", "matmul"};
  EXPECT_EQ(launched == three, GetParam());
#endif
}

#if defined(LLMSERVICE_GPU_HOST) && LLMSERVICE_WARP_SIZE == 32
// Chunks on both sides of where one launch begins, whose last block of tokens has one.
TEST_P(GatedOpsTest, GivesARowTheSameBitsInChunksOfAnySize) {
  if (!GetParam()) GTEST_SKIP();  // others have no such border
  const auto gate_up = pack(gates.part(0, 2 * kWidth));
  const auto down = pack(last.part(0, kHidden));
  reserve();
  const std::vector<float> whole = layer(true, *gate_up, *down, kMostRows);
  for (const int64_t rows : {256, 257}) {
    expect_same_bits(layer(true, *gate_up, *down, rows), std::span(whole).first(rows * kHidden),
                     std::to_string(rows) + " rows");
    EXPECT_EQ(launched[1] == "matmul_gated", rows == 257);
  }
}
#endif

TEST_P(GatedOpsTest, WritesWhatIsReadTwiceOrInAnotherOrder) {
  const auto gate_up = pack(gates.part(0, 2 * kWidth));
  const StoredMatrix halves = random_matrix(DType::kBF16, 64, kWidth, 5);
  const MatrixPart both[] = {last.part(0, 64), halves.part(0, 64)};
  EXPECT_EQ(expect_same(*gate_up, *pack(both), 3), (Written{false, true}));

  const StoredMatrix integers = random_matrix(DType::kInt4, 64, kWidth, 9);
  MatrixPart part = integers.part(0, 64);
  for (int32_t i = 0; i < kWidth; ++i) part.order.push_back((i * 37 + 11) % kWidth);
  EXPECT_EQ(expect_same(*gate_up, *pack(part), 3), (Written{false, true}));
}

INSTANTIATE_TEST_SUITE_P(Devices, GatedOpsTest, ::testing::Bool(),
                         [](const auto& hopper) { return hopper.param ? "Hopper" : "Other"; });

}  // namespace
}  // namespace llmservice::testing
