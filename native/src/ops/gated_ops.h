// The gated feed-forward layer as one op, of backends that have it: what its products leave for each other
// need not be written then.
#pragma once

#include <cstdint>

#include "ops/matrix.h"

namespace llmservice {

class GatedOps {
 public:
  virtual ~GatedOps() = default;
  // out (T, N) = (silu(g) · u) · downᵀ, where [g F | u F] = x (T, K) · gate_upᵀ: the bits of matmul(),
  // silu_mul() and matmul(). `wide` (T, 2F) and `mixed` (T, F) are room: what they hold afterwards is
  // unspecified.
  virtual void gated_matmul(const Matrix& gate_up, const Matrix& down, const float* x, int64_t rows,
                            float* wide, float* mixed, float* out) = 0;
};

}  // namespace llmservice
