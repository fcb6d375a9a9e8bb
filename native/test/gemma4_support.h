// Tiny models with all that sets Gemma 4 apart: layers without a window have wider and fewer heads, of which
// keys are values; values are normed, and each layer has a scalar.
#pragma once

#include "moe_support.h"

namespace llmservice::testing {

inline ModelConfig tiny_gemma4_config(int32_t global_head_dim = 512) {
  ModelConfig config = tiny_gemma_config();
  config.architecture = "gemma4";
  config.heads = 2;
  config.unit_offset_norm = false;
  config.rope = {.theta = 1e6,
                 .rotary = global_head_dim,
                 .scaling = ProportionalScaling{.angles = global_head_dim / 8, .factor = 1}};
  config.query_scalar = 1;
  config.score_cap = 0;
  config.global_attention =
      GlobalAttention{.kv_heads = 1, .head_dim = global_head_dim, .keys_are_values = true};
  config.value_norm = true;
  config.layer_scalars = true;
  return config;
}

inline Tensors tiny_gemma4_tensors(int64_t global_head_dim = 512, uint32_t seed = 1) {
  std::mt19937 random(seed);
  Tensors t;
  for (const auto& [name, tensor] : tiny_llama_tensors(seed)) {
    if (name.find("norm") == std::string::npos) t[name] = tensor;
  }
  t["model.norm.weight"] = bf16_tensor({kHidden}, 1, 0.3F, random);
  for (const int64_t index : {0, 1}) {
    const std::string layer = "model.layers." + std::to_string(index) + ".";
    const std::string attention = layer + "self_attn.";
    const int64_t width = index == 0 ? 16 : global_head_dim;
    for (const char* norm : {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                             "post_feedforward_layernorm"}) {
      t[layer + norm + ".weight"] = bf16_tensor({kHidden}, 1, 0.3F, random);
    }
    t[layer + "layer_scalar"] = bf16_tensor({1}, 0.8F, 0.1F, random);
    // Scores are of the order of one.
    const float root = std::pow(static_cast<float>(width), -0.25F);
    t[attention + "q_norm.weight"] = bf16_tensor({width}, root, root / 3, random);
    t[attention + "k_norm.weight"] = bf16_tensor({width}, root, root / 3, random);
    t[attention + "q_proj.weight"] = bf16_tensor({2 * width, kHidden}, 0, 0.3F, random);
    t[attention + "k_proj.weight"] = bf16_tensor({index == 0 ? 32 : width, kHidden}, 0, 0.3F, random);
    t[attention + "o_proj.weight"] = bf16_tensor({kHidden, 2 * width}, 0, 0.3F, random);
  }
  t.erase("model.layers.1.self_attn.v_proj.weight");
  return t;
}

// And the mixture: experts beside a dense feed-forward, each with norms of their own.
inline ModelConfig gemma4_moe_config() {
  ModelConfig config = tiny_gemma4_config(32);
  config.architecture = "gemma4_moe";
  config.intermediate = 0;
  config.feed_forward.assign(config.layers.size(), FeedForwardKind::kMoe);
  config.moe = {.experts = kExperts,
                .top_k = 2,
                .intermediate = kWidth,
                .shared_intermediate = 96,
                .normalize_top_k = true,
                .shared_gate = false,
                .own_norms = true};
  return config;
}

inline Tensors gemma4_moe_tensors(uint32_t seed = 1) {
  std::mt19937 random(seed + 3);
  Tensors t;
  for (const auto& [name, tensor] : tiny_gemma4_tensors(32, seed)) {
    if (name.find(".mlp.") == std::string::npos) t[name] = tensor;
  }
  for (const auto& [name, tensor] : moe_tensors(seed)) {
    if (name.find(".mlp.") != std::string::npos) t[name] = tensor;
  }
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    for (const char* norm :
         {"pre_feedforward_layernorm_2", "post_feedforward_layernorm_1", "post_feedforward_layernorm_2"}) {
      t[layer + norm + ".weight"] = bf16_tensor({kHidden}, 1, 0.3F, random);
    }
    t[layer + "router.scale"] = bf16_tensor({kHidden}, 1, 0.3F, random);
    t[layer + "router.per_expert_scale"] = bf16_tensor({kExperts}, 1, 0.5F, random);
    add_shared_expert(t, layer + "mlp.", 96, random);
  }
  return t;
}

// The small sizes: embeddings of each layer, and two layers, with a wider feed-forward, that read the keys
// and values of the first two.
inline ModelConfig gemma4_small_config() {
  ModelConfig config = tiny_gemma4_config(32);
  config.global_attention->keys_are_values = false;
  config.layers.assign(4, LayerKind::kAttention);
  config.feed_forward.assign(4, FeedForwardKind::kDense);
  config.windows = {24, 0, 24, 0};
  config.shared_kv = SharedKv{.layers = 2, .intermediate = 192};
  config.layer_embeddings = LayerEmbeddings{.width = 16, .scale = 4};
  return config;
}

inline Tensors gemma4_small_tensors(uint32_t seed = 1) {
  constexpr int64_t kPart = 16;
  std::mt19937 random(seed + 5);
  Tensors t = tiny_gemma4_tensors(32, seed);
  t["model.layers.1.self_attn.v_proj.weight"] = bf16_tensor({32, kHidden}, 0, 0.3F, random);
  for (const auto& [own, shared] :
       {std::pair{"model.layers.0.", "model.layers.2."}, std::pair{"model.layers.1.", "model.layers.3."}}) {
    for (const auto& [name, tensor] : tiny_gemma4_tensors(32, seed + 1)) {
      const bool has_keys = name.find("k_proj") != std::string::npos ||
                            name.find("v_proj") != std::string::npos ||
                            name.find("k_norm") != std::string::npos;
      if (name.starts_with(own) && !has_keys) t[shared + name.substr(std::string(own).size())] = tensor;
    }
    for (const char* projection : {"gate_proj", "up_proj"}) {
      t[std::string(shared) + "mlp." + projection + ".weight"] = bf16_tensor({192, kHidden}, 0, 0.3F, random);
    }
    t[std::string(shared) + "mlp.down_proj.weight"] = bf16_tensor({kHidden, 192}, 0, 0.3F, random);
  }
  t["model.embed_tokens_per_layer.weight"] = bf16_tensor({211, 4 * kPart}, 0, 0.5F, random);
  t["model.per_layer_model_projection.weight"] = bf16_tensor({4 * kPart, kHidden}, 0, 0.3F, random);
  t["model.per_layer_projection_norm.weight"] = bf16_tensor({kPart}, 1, 0.3F, random);
  for (const std::string layer :
       {"model.layers.0.", "model.layers.1.", "model.layers.2.", "model.layers.3."}) {
    t[layer + "per_layer_input_gate.weight"] = bf16_tensor({kPart, kHidden}, 0, 0.3F, random);
    t[layer + "per_layer_projection.weight"] = bf16_tensor({kHidden, kPart}, 0, 0.5F, random);
    t[layer + "post_per_layer_input_norm.weight"] = bf16_tensor({kHidden}, 1, 0.3F, random);
  }
  return t;
}

}  // namespace llmservice::testing
