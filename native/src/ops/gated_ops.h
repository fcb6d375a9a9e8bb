// Of backends that leave out what nobody reads: the gated feed-forward layer as one op, and the end of what
// products alone have read.
#pragma once

#include <cstdint>

#include "ops/matrix.h"

namespace llmservice {

class GatedOps {
 public:
  virtual ~GatedOps() = default;
  // out (T, N) = (silu(g) · u) · downᵀ, where [g F | u F] = x (T, K) · gate_upᵀ: the bits of matmul(),
  // silu_mul() and matmul(). `wide` (T, 2F) and `mixed` (T, F) are room. What they hold afterwards is
  // unspecified, and so is x: it is forgotten, as by forget().
  virtual void gated_matmul(const Matrix& gate_up, const Matrix& down, const float* x, int64_t rows,
                            float* wide, float* mixed, float* out) = 0;
  // No op reads x again before one has written it: what it holds until then is unspecified. What made it need
  // not write it where products before this, which read it in a form of their own, are all that did.
  virtual void forget(const float* x) = 0;
};

}  // namespace llmservice
