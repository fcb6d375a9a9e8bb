// Qwen3.6-27B's shape, with its layer for multi-token prediction, and the same in small for machines without
// a GPU: what config.json says and which tensors there are.
#pragma once

#include "../model_shape.h"

namespace llmservice::bench {

struct QwenSizes {
  int64_t layers;  // every fourth with full attention, the others with Gated DeltaNet
  int64_t hidden;
  int64_t heads, kv_heads, head_dim;
  int64_t k_heads, v_heads, gdn_dim;  // of Gated DeltaNet, keys as wide as values
  int64_t feed_forward;
  int64_t vocab;

  int64_t channels() const { return (2 * k_heads + v_heads) * gdn_dim; }
  int64_t v_width() const { return v_heads * gdn_dim; }
};

constexpr QwenSizes kQwen27B = {.layers = 64,
                                .hidden = 5120,
                                .heads = 24,
                                .kv_heads = 4,
                                .head_dim = 256,
                                .k_heads = 16,
                                .v_heads = 48,
                                .gdn_dim = 128,
                                .feed_forward = 17408,
                                .vocab = 248320};
constexpr QwenSizes kTinyQwen = {.layers = 4,
                                 .hidden = 128,
                                 .heads = 4,
                                 .kv_heads = 2,
                                 .head_dim = 32,
                                 .k_heads = 2,
                                 .v_heads = 4,
                                 .gdn_dim = 32,
                                 .feed_forward = 256,
                                 .vocab = 512};

ModelShape qwen_shape(const QwenSizes& sizes);

}  // namespace llmservice::bench
