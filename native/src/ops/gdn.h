// The gated delta rule of one layer: its shape, its recurrent state and what becomes of its output. Shapes: T
// rows of a step; row-major, innermost last.
#pragma once

#include <cstdint>

namespace llmservice {

struct GdnShape {
  int32_t k_heads;
  int32_t v_heads;
  int32_t k_dim;
  int32_t v_dim;
  int32_t conv_kernel;
  bool tiled = false;  // V heads lie round after round of the K heads, else K head after K head
};

// The K head that a V head uses.
inline int32_t k_head_of(const GdnShape& shape, int32_t v_head) {
  return shape.tiled ? v_head % shape.k_heads : v_head / (shape.v_heads / shape.k_heads);
}

// Recurrent state of one layer for all slots and, after them, all snapshots: conv (slots + snapshots,
// channels, conv_kernel - 1), S (slots + snapshots, v_heads, k_dim, v_dim), both float32.
struct GdnState {
  float* conv;
  float* s;
};

// What becomes of the output of the gated delta rule, per head: x / rms(x) · weight (v_dim) · silu(z), z (T,
// v_heads, v_dim) with row stride `stride`. Null weight: nothing.
struct GdnNorm {
  const float* z = nullptr;
  int64_t stride = 0;
  const float* weight = nullptr;
  float eps = 0;
};

}  // namespace llmservice
