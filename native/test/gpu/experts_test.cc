// Mixtures of experts: their sums bit for bit against one product at a time, and near the reference.
#include "backends/gpu/kernels/experts.h"

#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/kernels/numbers.h"
#include "backends/gpu/kernels/rows.h"
#include "route_support.h"

namespace llmservice::testing {
namespace {

struct MixtureCase {
  DType dtype;
  int32_t scale_rows;
  int32_t hidden;
  int32_t width;
  RoutingShape routing;
  int64_t rows;
  float tolerance;  // to the reference, which does not quantize activations
  bool biased = false;
  std::optional<ClampedSwiglu> clamped = std::nullopt;
  bool gelu = false;

  bool plain() const { return !biased && !clamped; }
};

void PrintTo(const MixtureCase& c, std::ostream* out) {
  *out << name_of(c.dtype) << ' ' << c.rows << " rows, " << c.routing.top_k << " of " << c.routing.experts;
}

// The matrices of all experts on the device, and as the reference has them.
class MatrixSet {
 public:
  MatrixSet(const MixtureCase& c, int32_t outputs, int32_t cols, uint32_t seed) {
    ReferenceBackend reference;
    for (int32_t expert = 0; expert < c.routing.experts; ++expert) {
      const StoredMatrix stored = random_matrix(c.dtype, outputs, cols, seed + expert,
                                                c.scale_rows == 1 ? Scaling::kRow : Scaling::kBlock);
      plain_.push_back(pack_expert(reference, stored));
      tiles_.push_back(
          std::make_unique<DeviceArray<std::byte>>(gpu::tile_bytes(c.dtype, outputs, cols), std::byte{0}));
      std::vector<float> scales;
      for (int64_t col = 0; col < cols; col += gpu::kScaleColumns) {
        for (int64_t row = 0; row < outputs; row += c.scale_rows) {
          scales.push_back(stored.scale(row, col) * gpu::kStoredFp8Scale);
        }
      }
      scales_.push_back(std::make_unique<DeviceArray<float>>(scales));
      matrices_.push_back({.tiles = tiles_.back()->data(),
                           .scales = c.dtype == DType::kF8E4M3 ? scales_.back()->data() : nullptr,
                           .scale_rows = c.scale_rows,
                           .dtype = c.dtype,
                           .order = gpu::kExpertOrder,
                           .rows = outputs,
                           .cols = cols,
                           .stride = outputs,
                           .multiprocessors = 4});
      const DeviceArray<std::byte> rows(stored.data);
      run(gpu::pack_rows(matrices_.back(), tiles_.back()->data(), rows.data(), 0, outputs));
    }
    device_ = std::make_unique<DeviceArray<gpu::DeviceMatrix>>(matrices_);
  }

  const gpu::DeviceMatrix* on_device() const { return device_->data(); }
  const gpu::DeviceMatrix& of(int32_t expert) const { return matrices_[expert]; }
  std::vector<ExpertMatrix>& plain() { return plain_; }
  std::vector<float> times(int32_t expert, const std::vector<float>& x) const {
    const gpu::DeviceMatrix& w = of(expert);
    const DeviceArray<float> in(x), out(w.rows, NAN);
    const DeviceArray<std::byte> workspace(gpu::matmul_workspace(w, 1), std::byte{0});
    for (const auto& launch : gpu::matmul(w, in.data(), 1, workspace.data(), out.data())) run(launch);
    return out.host();
  }

 private:
  std::vector<ExpertMatrix> plain_;
  std::vector<std::unique_ptr<DeviceArray<std::byte>>> tiles_;
  std::vector<std::unique_ptr<DeviceArray<float>>> scales_;
  std::vector<gpu::DeviceMatrix> matrices_;
  std::unique_ptr<DeviceArray<gpu::DeviceMatrix>> device_;
};

class MixtureTest : public ::testing::TestWithParam<MixtureCase> {
 protected:
  const MixtureCase& c = GetParam();
  MatrixSet gate_up{c, 2 * c.width, c.hidden, 1};
  MatrixSet down{c, c.hidden, c.width, 100};
  const std::vector<float> x = random_floats(c.rows * c.hidden, 5);
  const Choice choice = skewed_choice();
  const std::vector<float> gate_up_biases =
      random_floats(c.biased ? int64_t{c.routing.experts} * 2 * c.width : 0, 7);
  const std::vector<float> down_biases =
      random_floats(c.biased ? int64_t{c.routing.experts} * c.hidden : 0, 8);

  // Some experts are everybody's, some nobody's.
  Choice skewed_choice() const {
    std::vector<float> logits = random_floats(c.rows * c.routing.experts, 6, 2.0f);
    for (int64_t row = 0; row < c.rows; ++row) {
      logits[row * c.routing.experts + 1] += 3;
      logits[row * c.routing.experts + c.routing.experts - 1] -= 9;
    }
    return route_on_device(c.routing, logits);
  }

  std::vector<float> run_rows(int64_t first, int64_t count) const {
    const DeviceArray<float> wide_biases(gate_up_biases), biases(down_biases);
    const gpu::DeviceExperts experts{gate_up.on_device(),
                                     down.on_device(),
                                     gate_up.of(0),
                                     down.of(0),
                                     c.biased ? wide_biases.data() : nullptr,
                                     c.biased ? biases.data() : nullptr,
                                     c.clamped,
                                     c.gelu};
    const auto part = [&]<class T>(const std::vector<T>& all, int64_t width) {
      return std::span<const T>(all).subspan(first * width, count * width);
    };
    const DeviceArray<float> in(part(x, c.hidden)), weights(part(choice.weights, c.routing.top_k));
    const DeviceArray<int32_t> ids(part(choice.ids, c.routing.top_k));
    const DeviceArray<float> out(count * c.hidden, NAN);
    const DeviceArray<std::byte> workspace(gpu::experts_workspace(experts, c.routing, count),
                                           std::byte{0xff});
    for (const auto& launch : gpu::run_experts(experts, c.routing, {ids.data(), weights.data()}, in.data(),
                                               count, workspace.data(), out.data()))
      run(launch);
    return out.host();
  }

  // Product after product.
  std::vector<float> run_alone(int64_t row) const {
    const std::vector<float> own(x.begin() + row * c.hidden, x.begin() + (row + 1) * c.hidden);
    std::vector<float> sum(c.hidden, 0.0f);
    for (int32_t k = 0; k < c.routing.top_k; ++k) {
      const int32_t expert = choice.ids[row * c.routing.top_k + k];
      const DeviceArray<float> wide(gate_up.times(expert, own)), mixed(c.width, NAN);
      run(c.gelu ? gpu::gelu_mul(wide.data(), 1, c.width, mixed.data())
                 : gpu::silu_mul(wide.data(), 1, c.width, mixed.data()));
      const std::vector<float> y = down.times(expert, mixed.host());
      for (int32_t i = 0; i < c.hidden; ++i) sum[i] += choice.weights[row * c.routing.top_k + k] * y[i];
    }
    return sum;
  }
};

TEST_P(MixtureTest, SumsEachRowAsItsProductsAndNearTheReference) {
  const std::vector<float> all = run_rows(0, c.rows);
  for (const int64_t row : {int64_t{0}, c.rows / 2, c.rows - 1}) {
    const auto own = std::span(all).subspan(row * c.hidden, c.hidden);
    // A device may fuse the multiplication into the sum.
    if (c.plain()) {
      expect_close(own, run_alone(row), 1e-6f, "product after product, row " + std::to_string(row));
    }
    expect_same_bits(run_rows(row, 1), own, "row " + std::to_string(row) + " alone");
  }
  Choice copy = choice;
  std::vector<float> expected(all.size());
  const Experts experts{.gate_up = std::move(gate_up.plain()),
                        .down = std::move(down.plain()),
                        .gate_up_bias = c.biased ? gate_up_biases.data() : nullptr,
                        .down_bias = c.biased ? down_biases.data() : nullptr,
                        .clamped = c.clamped,
                        .gelu = c.gelu,
                        .index = nullptr};
  ReferenceBackend().run_experts(experts, c.routing, {copy.ids.data(), copy.weights.data()}, x.data(), c.rows,
                                 {}, expected.data());
  double error = 0;
  double size = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    error += std::pow(all[i] - expected[i], 2);
    size += std::pow(expected[i], 2);
  }
  EXPECT_LE(std::sqrt(error / size), c.tolerance);
}

INSTANTIATE_TEST_SUITE_P(Shapes, MixtureTest,
                         ::testing::Values(MixtureCase{DType::kBF16, 64, 64, 96, {6, 2, true}, 1, 0.01f},
                                           MixtureCase{DType::kF16, 64, 96, 64, {6, 3, true}, 19, 0.002f},
                                           MixtureCase{DType::kF8E4M3, 64, 256, 128, {9, 3, true}, 5, 0.1f},
                                           MixtureCase{DType::kF8E4M3, 1, 136, 72, {5, 2, false}, 40, 0.1f},
                                           MixtureCase{DType::kF8E4M3, 64, 128, 128, {4, 2, true}, 150, 0.1f},
                                           MixtureCase{DType::kBF16,
                                                       64,
                                                       64,
                                                       96,
                                                       {6, 2, true},
                                                       21,
                                                       0.01f,
                                                       true,
                                                       ClampedSwiglu{.limit = 2, .alpha = 1.702f}},
                                           MixtureCase{
                                               DType::kF16, 64, 72, 66, {5, 4, true}, 3, 0.002f, true},
                                           MixtureCase{.dtype = DType::kBF16,
                                                       .scale_rows = 64,
                                                       .hidden = 64,
                                                       .width = 72,
                                                       .routing = {4, 2, true},
                                                       .rows = 5,
                                                       .tolerance = 0.01f,
                                                       .gelu = true}));

}  // namespace
}  // namespace llmservice::testing
