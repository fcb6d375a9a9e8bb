// What a product in fixed point must be to the last bit: activations as multiples of a 32767th of the largest
// of 128, sums of integers for each group of columns, a chain over a K block's groups.
#pragma once

#include <cmath>
#include <vector>

#include "grouped_sums.h"

namespace llmservice::testing {

// Whether the backend takes activations in fixed point where they multiply a matrix of this type.
inline bool fixes(const Backend& backend, DType held, DType keep = DType::kBF16) {
  return std::string(backend.isa()) == "avx2" && keep == DType::kBF16 &&
         (held == DType::kQ4_K || held == DType::kQ6_K);
}

struct FixedNumbers {
  int values[128] = {};
  float scale = 0;

  explicit FixedNumbers(const float* x) {
    float largest = 0;
    for (int i = 0; i < 128; ++i) {
      if (!std::isfinite(x[i])) {
        scale = NAN;
        return;
      }
      largest = std::max(largest, std::abs(x[i]));
    }
    if (largest < 0x1p-110f) return;
    scale = largest / 32767.0f;
    const float steps = 32767.0f / largest;
    for (int i = 0; i < 128; ++i) values[i] = static_cast<int>(std::nearbyint(x[i] * steps));
  }
};

// One K block of a row: half a block of 256 columns, of which it is the `half`th.
inline float fixed_block(DType dtype, const std::byte* block, int half, const FixedNumbers& x) {
  const BlockScales scales = block_scales(dtype, block);
  uint8_t codes[256];
  block_codes(dtype, block, codes);
  const bool is_q6 = dtype == DType::kQ6_K;
  const int columns = is_q6 ? 16 : 32;
  float scaled = 0;
  float minima = 0;
  for (int first = 0; first < 128; first += columns) {
    const int group = (half * 128 + first) / columns;
    int64_t sum = 0;
    int64_t sum_of_x = 0;
    for (int i = first; i < first + columns; ++i) {
      sum += int64_t{codes[half * 128 + i] - (is_q6 ? 32 : 0)} * x.values[i];
      sum_of_x += x.values[i];
    }
    const int scale = is_q6 ? static_cast<int8_t>(scales.scale[group]) : scales.scale[group];
    scaled = std::fma(static_cast<float>(sum), static_cast<float>(scale), scaled);
    if (!is_q6)
      minima = std::fma(static_cast<float>(sum_of_x), static_cast<float>(scales.minimum[group]), minima);
  }
  const float value = f16_to_float(scales.d) * scaled;
  return is_q6 ? value : std::fma(-f16_to_float(scales.dmin), minima, value);
}

// Output `row` for every row of x.
inline void fixed_row(const StoredMatrix& w, int64_t row, std::span<const float> x, float* out,
                      int64_t out_stride) {
  const int64_t bytes = block_layout(w.dtype).bytes;
  for (size_t t = 0; t < x.size() / w.cols; ++t) {
    float total = 0;
    for (int64_t k = 0; k < w.cols; k += 128) {
      const std::byte* const block = &w.data[(row * w.cols + k) / 256 * bytes];
      const FixedNumbers numbers(&x[t * w.cols + k]);
      total = std::fma(numbers.scale, fixed_block(w.dtype, block, k % 256 / 128, numbers), total);
    }
    out[t * out_stride] = total;
  }
}

}  // namespace llmservice::testing
