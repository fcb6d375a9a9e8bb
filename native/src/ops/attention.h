// Attention: its shape, the paged cache, and what becomes of q, k and scores.
#pragma once

#include <cstdint>

#include "ops/matrix.h"

namespace llmservice {

struct AttentionShape {
  int32_t heads;
  int32_t kv_heads;
  int32_t head_dim;
  int32_t block_size;
  DType kv_dtype;
  float scale;  // of scores: 1/sqrt(head_dim), but for models that say otherwise
  // Positions that a row sees, its own included; 0: all before it. Without causality as many behind it too.
  int32_t window = 0;
  // Positions before it hold nothing and are never seen; no row lies before it.
  int32_t first = 0;
};

// First position that the row at `position` sees.
inline int32_t first_seen(const AttentionShape& shape, int32_t position) {
  const bool whole = shape.window == 0 || position - shape.first < shape.window;
  return whole ? shape.first : position - shape.window + 1;
}

// Paged KV of one layer: (blocks, kv_heads, block_size, head_dim) each for K and V; within a block and head a
// backend may order K as its products want it. Where it is kept in kF8E4M3, the head_dim codes of a position
// and head share a scale: (blocks, kv_heads, block_size) each.
struct KvCache {
  void* k;
  void* v;
  float* k_scales = nullptr;
  float* v_scales = nullptr;
};

// What becomes of q and k before attention, in this order: RMSNorm per head, where there are weights
// (head_dim) for it, then rotation of the first `rotary` features (NeoX halves) by cos, sin (T, rotary / 2).
struct NormRope {
  const float* q_norm = nullptr;
  const float* k_norm = nullptr;  // null where q_norm is
  float eps = 0;
  int32_t rotary = 0;
  const float* cos = nullptr;
  const float* sin = nullptr;
  const float* v_norm = nullptr;  // of values, which do not rotate; null: they stay
};

// Which scores there are, and what becomes of them.
struct ScoreRules {
  float cap = 0;                 // they become cap * tanh(score / cap); 0: they stay
  const float* sinks = nullptr;  // (heads): scores that join each row's softmax, without a value; null: none
  // Else a row sees what lies behind it too, to the end of its window or segment.
  bool causal = true;
};

}  // namespace llmservice
