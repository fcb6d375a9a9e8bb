// Attention's tests: shapes, and which backends round.
#pragma once

#include <cmath>
#include <string>

#include "ops_support.h"

namespace llmservice::testing {

// Whether the backend multiplies pairs of BF16: queries and weights are rounded then.
inline bool rounds_attention(const Backend& backend, DType kv_dtype) {
  return has_pairs(backend) && kv_dtype == DType::kBF16;
}

inline AttentionShape shape(int32_t heads, int32_t kv_heads, int32_t dim, int32_t block, DType dtype,
                            int32_t window = 0) {
  return {heads, kv_heads, dim, block, dtype, 1.0f / std::sqrt(static_cast<float>(dim)), window};
}

}  // namespace llmservice::testing
