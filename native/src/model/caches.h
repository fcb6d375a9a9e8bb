// Memory that outlives a step: paged KV of the attention layers, recurrent state of the GDN layers.
#pragma once

#include <memory>
#include <vector>

#include "model/config.h"
#include "ops/ops.h"

namespace llmservice {

struct CacheSizes {
  int32_t block_size;
  int32_t slots;
  int32_t snapshots;  // of recurrent state
  DType kv_dtype;
  int32_t drafts = 0;  // rows of one slot that may come to nothing
};

// Of the layer that `config` is of, as in ModelConfig::of_layer().
AttentionShape attention_shape(const ModelConfig& config, const CacheSizes& sizes);
GdnShape gdn_shape(const GdnConfig& gdn);

// Channels of the convolution: q, k and v of all heads.
int64_t gdn_channels(const GdnShape& shape);

// Bytes of one KV block, over all layers that have their own; all share one where attention is
// bidirectional; K and V.
int64_t kv_bytes_per_block(const ModelConfig& config, const CacheSizes& sizes);
// Bytes of one slot's recurrent state over all layers; 0 when the model keeps none.
int64_t state_bytes_per_slot(const ModelConfig& config);

// Bytes of one slot's draft inputs over all layers; 0 when the model keeps no recurrent state.
int64_t draft_bytes_per_slot(const ModelConfig& config, int32_t drafts);
// What the recurrent update of one row is made from: [q | k | v before the convolution | b | a].
int64_t draft_input_width(const GdnShape& shape);

// What each block, or each row of recurrent state, has in one piece of memory: that of number i begins
// `bytes` times i behind `first`.
struct CacheLine {
  std::byte* first;
  size_t bytes;
};

class Caches {
 public:
  // Allocates recurrent state.
  Caches(Backend& backend, const ModelConfig& config, const CacheSizes& sizes);
  // Once, before kv().
  void allocate_kv(Backend& backend, const ModelConfig& config, int32_t blocks);

  // `layer` counts all layers of the model.
  KvCache kv(size_t layer);
  GdnState gdn(size_t layer) {
    return {static_cast<float*>(layers_[layer].first->data()),
            static_cast<float*>(layers_[layer].second->data())};
  }
  // All that a block holds, once there is KV; and all that a row of recurrent state does.
  const std::vector<CacheLine>& block_lines() const { return block_lines_; }
  const std::vector<CacheLine>& state_lines() const { return state_lines_; }
  // (slots · drafts, draft_input_width) of a GDN layer.
  float* draft_inputs(size_t layer) { return static_cast<float*>(draft_inputs_[layer]->data()); }

 private:
  CacheSizes sizes_;
  std::vector<int64_t> scale_bytes_;  // of each layer's K (or V) over all blocks; they lie before the codes
  std::vector<size_t> kv_layers_;     // of each layer, whose K and V it reads
  bool shared_ = false;               // the first layer's KV is that of all
  // (K, V) of an attention layer, (conv, S) of a GDN layer.
  std::vector<std::pair<std::unique_ptr<Buffer>, std::unique_ptr<Buffer>>> layers_;
  std::vector<CacheLine> block_lines_;
  std::vector<CacheLine> state_lines_;
  std::vector<std::unique_ptr<Buffer>> draft_inputs_;  // null for attention layers, and where nothing drafts
};

}  // namespace llmservice
