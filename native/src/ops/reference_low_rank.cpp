#include "ops/dtype.h"
#include "ops/reference.h"

namespace llmservice {

void ReferenceBackend::add_low_rank(std::span<const LowRankRows> entries, int64_t place, const float* x,
                                    int64_t cols, float* out, int64_t out_stride) {
  for (const auto& [adapter, first, count] : entries) {
    for (const LowRank& pair : adapter->at(place)) {
      std::vector<double> shrunk(pair.rank);
      for (int64_t row = first; row < first + count; ++row) {
        for (int64_t r = 0; r < pair.rank; ++r) {
          double sum = 0;
          for (int64_t c = 0; c < cols; ++c)
            sum += double{x[row * cols + c]} * widen(pair.dtype, pair.a, pair.a_at(r, c));
          shrunk[r] = sum * pair.scale;
        }
        for (int64_t i = 0; i < pair.rows; ++i) {
          double sum = 0;
          for (int64_t r = 0; r < pair.rank; ++r)
            sum += shrunk[r] * widen(pair.dtype, pair.b, pair.b_at(i, r));
          out[row * out_stride + pair.first + i] += static_cast<float>(sum);
        }
      }
    }
  }
}

}  // namespace llmservice
