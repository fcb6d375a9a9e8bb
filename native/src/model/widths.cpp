#include "model/widths.h"

#include <algorithm>

#include "model/caches.h"
#include "model/layer_inputs.h"

namespace llmservice {

int64_t widest_projection(const ModelConfig& c) {
  int64_t widest = 0;
  for (size_t i = 0; i < c.layers.size(); ++i) {
    const ModelConfig own = c.of_layer(i);
    const int64_t heads = int64_t{c.heads} * (c.output_gate ? 2 : 1) + int64_t{own.kv_heads} * 2;
    widest = std::max({widest, heads * own.head_dim, int64_t{2} * own.intermediate});
  }
  if (c.moe) {
    widest =
        std::max<int64_t>({widest, c.moe->experts, 2 * c.moe->intermediate, 2 * c.moe->shared_intermediate});
  }
  if (c.layer_embeddings) widest = std::max({widest, parts_width(c), int64_t{2} * c.layer_embeddings->width});
  if (c.gdn) {
    widest = std::max<int64_t>(widest, gdn_channels(gdn_shape(*c.gdn)) + c.gdn->v_heads * c.gdn->v_dim);
  }
  return widest;
}

int64_t widest_head(const ModelConfig& c) {
  return std::max(c.head_dim, c.global_attention ? c.global_attention->head_dim : 0);
}

int64_t widest_mixed(const ModelConfig& c) {
  const int64_t gdn = c.gdn ? static_cast<int64_t>(c.gdn->v_heads) * c.gdn->v_dim : 0;
  const int64_t expert = c.moe ? std::max(c.moe->intermediate, c.moe->shared_intermediate) : 0;
  const int64_t part = c.layer_embeddings ? c.layer_embeddings->width : 0;
  const int64_t dense = c.shared_kv ? std::max(c.intermediate, c.shared_kv->intermediate) : c.intermediate;
  return std::max({int64_t{c.heads} * widest_head(c), dense, gdn, expert, part});
}

}  // namespace llmservice
