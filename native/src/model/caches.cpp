#include "model/caches.h"

#include <cmath>

#include "ops/dtype.h"

namespace llmservice {
namespace {

std::byte* first_byte(Buffer& buffer) { return static_cast<std::byte*>(buffer.data()); }

// Rows of head_dim values in one layer's K (or V) of one block.
int64_t block_rows(const ModelConfig& config, const CacheSizes& sizes) {
  return static_cast<int64_t>(config.kv_heads) * sizes.block_size;
}

int64_t scale_bytes(const ModelConfig& config, const CacheSizes& sizes) {
  const bool scaled = sizes.kv_dtype == DType::kF8E4M3;
  return scaled ? block_rows(config, sizes) * static_cast<int64_t>(sizeof(float)) : 0;
}

// One layer's K (or V) of one block, scales included.
int64_t block_bytes(const ModelConfig& config, const CacheSizes& sizes) {
  return block_rows(config, sizes) * config.head_dim * size_of(sizes.kv_dtype) + scale_bytes(config, sizes);
}

int64_t conv_bytes(const GdnShape& shape) {
  return gdn_channels(shape) * (shape.conv_kernel - 1) * static_cast<int64_t>(sizeof(float));
}

int64_t matrix_bytes(const GdnShape& shape) {
  return static_cast<int64_t>(shape.v_heads) * shape.k_dim * shape.v_dim *
         static_cast<int64_t>(sizeof(float));
}

}  // namespace

AttentionShape attention_shape(const ModelConfig& config, const CacheSizes& sizes) {
  return {.heads = config.heads,
          .kv_heads = config.kv_heads,
          .head_dim = config.head_dim,
          .block_size = sizes.block_size,
          .kv_dtype = sizes.kv_dtype,
          .scale = 1.0f / std::sqrt(config.query_scalar > 0 ? static_cast<float>(config.query_scalar)
                                                            : static_cast<float>(config.head_dim))};
}

GdnShape gdn_shape(const GdnConfig& gdn) {
  return {.k_heads = gdn.k_heads,
          .v_heads = gdn.v_heads,
          .k_dim = gdn.k_dim,
          .v_dim = gdn.v_dim,
          .conv_kernel = gdn.conv_kernel,
          .tiled = gdn.tiled};
}

int64_t gdn_channels(const GdnShape& shape) {
  return 2 * static_cast<int64_t>(shape.k_heads) * shape.k_dim +
         static_cast<int64_t>(shape.v_heads) * shape.v_dim;
}

int64_t kv_bytes_per_block(const ModelConfig& config, const CacheSizes& sizes) {
  if (config.bidirectional) return 2 * block_bytes(config, sizes);
  int64_t total = 0;
  for (size_t i = 0; i < config.layers.size(); ++i) {
    if (config.layers[i] != LayerKind::kAttention || config.kv_layer(i) != i) continue;
    total += 2 * block_bytes(config.of_layer(i), sizes);
  }
  return total;
}

int64_t state_bytes_per_slot(const ModelConfig& config) {
  int64_t total = 0;
  for (const LayerKind kind : config.layers) {
    if (kind != LayerKind::kGdn) continue;
    const GdnShape shape = gdn_shape(*config.gdn);
    total += conv_bytes(shape) + matrix_bytes(shape);
  }
  return total;
}

int64_t draft_input_width(const GdnShape& shape) {
  return gdn_channels(shape) + 2 * static_cast<int64_t>(shape.v_heads);
}

int64_t draft_bytes_per_slot(const ModelConfig& config, int32_t drafts) {
  int64_t total = 0;
  for (const LayerKind kind : config.layers) {
    if (kind != LayerKind::kGdn) continue;
    total += drafts * draft_input_width(gdn_shape(*config.gdn)) * static_cast<int64_t>(sizeof(float));
  }
  return total;
}

Caches::Caches(Backend& backend, const ModelConfig& config, const CacheSizes& sizes) : sizes_(sizes) {
  for (const LayerKind kind : config.layers) {
    draft_inputs_.emplace_back();
    layers_.emplace_back();
    if (kind == LayerKind::kAttention) continue;
    const GdnShape shape = gdn_shape(*config.gdn);
    const int64_t rows = int64_t{sizes.slots} + sizes.snapshots;
    layers_.back() = {backend.allocate(conv_bytes(shape) * rows),
                      backend.allocate(matrix_bytes(shape) * rows)};
    state_lines_.push_back({first_byte(*layers_.back().first), static_cast<size_t>(conv_bytes(shape))});
    state_lines_.push_back({first_byte(*layers_.back().second), static_cast<size_t>(matrix_bytes(shape))});
    const int64_t inputs = int64_t{sizes.slots} * sizes.drafts * draft_input_width(shape);
    if (inputs > 0) draft_inputs_.back() = backend.allocate(inputs * sizeof(float));
  }
}

void Caches::allocate_kv(Backend& backend, const ModelConfig& config, int32_t blocks) {
  for (size_t i = 0; i < layers_.size(); ++i) {
    const ModelConfig own = config.of_layer(i);
    scale_bytes_.push_back(scale_bytes(own, sizes_) * blocks);
    const size_t bytes = block_bytes(own, sizes_) * blocks;
    kv_layers_.push_back(config.kv_layer(i));
    if (config.layers[i] == LayerKind::kAttention && !own.shares_kv) {
      layers_[i] = {backend.allocate(bytes), backend.allocate(bytes)};
      const size_t scales = scale_bytes(own, sizes_);
      for (Buffer* const kv : {layers_[i].first.get(), layers_[i].second.get()}) {
        if (scales > 0) block_lines_.push_back({first_byte(*kv), scales});
        block_lines_.push_back({first_byte(*kv) + scale_bytes_.back(), block_bytes(own, sizes_) - scales});
      }
    }
    // No later step reads what a layer has written: the others take its place in turn.
    if (shared_ = config.bidirectional; shared_) return;
  }
}

KvCache Caches::kv(size_t layer) {
  layer = shared_ ? 0 : kv_layers_[layer];
  auto* const k = static_cast<std::byte*>(layers_[layer].first->data());
  auto* const v = static_cast<std::byte*>(layers_[layer].second->data());
  const int64_t scales = scale_bytes_[layer];
  if (scales == 0) return {k, v};
  return {k + scales, v + scales, reinterpret_cast<float*>(k), reinterpret_cast<float*>(v)};
}

}  // namespace llmservice
