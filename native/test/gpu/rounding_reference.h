// The scalar reference with the activations of FP8 weights rounded as GPUs round them (kernels/quantize.h):
// e4m3 codes with a scale for each row and 128 columns. A code is 6 % from the next one: what is rounded
// otherwise by 0.2 % before it is seen in the logits. So this is near a GPU where the first layer is Gated
// DeltaNet, in float32, and not where it is attention, whose rounding of q and of weights to bf16 it lacks.
#pragma once

#include <unordered_set>

#include "ops/dtype.h"
#include "ops/reference.h"

namespace llmservice::testing {

class RoundingReference final : public ReferenceBackend {
 public:
  std::unique_ptr<Matrix> pack(std::span<const MatrixPart> parts, DType keep,
                               const std::function<void(uint64_t)>& on_bytes) override {
    auto matrix = ReferenceBackend::pack(parts, keep, on_bytes);
    if (parts.front().dtype == DType::kF8E4M3) narrow_.insert(matrix.get());
    return matrix;
  }

  void matmul(const Matrix& w, const float* x, int64_t rows, float* out) override {
    if (!narrow_.contains(&w)) return ReferenceBackend::matmul(w, x, rows, out);
    std::vector<float> rounded(x, x + rows * w.cols);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t col = 0; col < w.cols; col += kColumns) {
        round(std::span(rounded).subspan(row * w.cols + col, std::min(kColumns, w.cols - col)));
      }
    }
    ReferenceBackend::matmul(w, rounded.data(), rows, out);
  }

 private:
  static constexpr int64_t kColumns = 128;
#if defined(LLMSERVICE_WARP_SIZE) && LLMSERVICE_WARP_SIZE == 64
  static constexpr float kLargestCode = 240.0f;  // of e4m3 FNUZ, as gfx942 has it
#else
  static constexpr float kLargestCode = 448.0f;
#endif

  static void round(std::span<float> values) {
    float largest = 1e-30f;
    for (const float value : values) largest = std::max(largest, std::fabs(value));
    for (float& value : values) {
      const auto code = static_cast<std::byte>(float_to_e4m3(value * (kLargestCode / largest)));
      value = widen(DType::kF8E4M3, &code, 0) * (largest / kLargestCode);
    }
  }

  std::unordered_set<const Matrix*> narrow_;
};

}  // namespace llmservice::testing
