// Tiny models whose layers are mixtures of experts: qwen3_moe, and what sets others apart from it.
#pragma once

#include "tiny_checkpoint.h"

namespace llmservice::testing {

constexpr int32_t kExperts = 3;
constexpr int64_t kWidth = 160;  // of an expert: one whole FP8 block and a part
constexpr int64_t kHidden = 64;

inline ModelConfig moe_config() {
  ModelConfig config = tiny_llama_config();
  config.architecture = "qwen3_moe";
  config.qk_norm = true;
  config.intermediate = 0;
  config.feed_forward.assign(config.layers.size(), FeedForwardKind::kMoe);
  config.moe = {.experts = kExperts,
                .top_k = 2,
                .intermediate = kWidth,
                .shared_intermediate = 0,
                .normalize_top_k = false};
  return config;
}

// Of a whole such model.
inline Tensors moe_tensors(uint32_t seed = 1) {
  std::mt19937 random(seed);
  Tensors t;
  for (const auto& [name, tensor] : tiny_llama_tensors(seed)) {
    if (name.find(".mlp.") == std::string::npos) t[name] = tensor;
  }
  for (const char* layer : {"model.layers.0.", "model.layers.1."}) {
    const std::string p = layer;
    t[p + "self_attn.q_norm.weight"] = bf16_tensor({16}, 1, 0.1F, random);
    t[p + "self_attn.k_norm.weight"] = bf16_tensor({16}, 1, 0.1F, random);
    t[p + "mlp.gate.weight"] = bf16_tensor({kExperts, kHidden}, 0, 0.3F, random);
    for (int32_t e = 0; e < kExperts; ++e) {
      const std::string expert = p + "mlp.experts." + std::to_string(e) + ".";
      t[expert + "gate_proj.weight"] = bf16_tensor({kWidth, kHidden}, 0, 0.3F, random);
      t[expert + "up_proj.weight"] = bf16_tensor({kWidth, kHidden}, 0, 0.3F, random);
      t[expert + "down_proj.weight"] = bf16_tensor({kHidden, kWidth}, 0, 0.3F, random);
    }
  }
  return t;
}

// With all that sets gpt-oss apart: sinks, biases, windows, gates that are clamped often.
inline ModelConfig gpt_oss_config() {
  ModelConfig config = moe_config();
  config.architecture = "gpt_oss";
  config.qk_norm = false;
  config.qkv_bias = true;
  config.output_bias = true;
  config.attention_sinks = true;
  config.windows = {24, 0};
  config.moe->normalize_top_k = true;
  config.moe->biases = true;
  config.moe->clamped = ClampedSwiglu{.limit = 1.5F, .alpha = 1.702F};
  return config;
}

inline Tensors gpt_oss_tensors(uint32_t seed = 1) {
  std::mt19937 random(seed + 1);
  Tensors t = moe_tensors(seed);
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    const std::string attention = layer + "self_attn.";
    const std::string experts = layer + "mlp.experts.";
    t.erase(attention + "q_norm.weight");
    t.erase(attention + "k_norm.weight");
    t[attention + "sinks"] = bf16_tensor({4}, 1, 2, random);
    t[attention + "q_proj.bias"] = bf16_tensor({64}, 0, 0.3F, random);
    t[attention + "k_proj.bias"] = bf16_tensor({32}, 0, 0.3F, random);
    t[attention + "v_proj.bias"] = bf16_tensor({32}, 0, 0.3F, random);
    t[attention + "o_proj.bias"] = bf16_tensor({64}, 0, 0.3F, random);
    t[layer + "mlp.gate.bias"] = bf16_tensor({kExperts}, 0, 0.5F, random);
    t[experts + "gate_proj.bias"] = bf16_tensor({kExperts, kWidth}, 0, 0.5F, random);
    t[experts + "up_proj.bias"] = bf16_tensor({kExperts, kWidth}, 0, 0.5F, random);
    t[experts + "down_proj.bias"] = bf16_tensor({kExperts, kHidden}, 0, 0.5F, random);
  }
  return t;
}

inline void add_shared_expert(Tensors& t, const std::string& mlp, int64_t width, std::mt19937& random) {
  t[mlp + "shared_expert.gate_proj.weight"] = bf16_tensor({width, kHidden}, 0, 0.3F, random);
  t[mlp + "shared_expert.up_proj.weight"] = bf16_tensor({width, kHidden}, 0, 0.3F, random);
  t[mlp + "shared_expert.down_proj.weight"] = bf16_tensor({kHidden, width}, 0, 0.3F, random);
}

// With all that sets GLM 4.5 apart: a dense layer, experts scored by sigmoids and corrected, a shared one
// without a gate, half of each head rotated.
inline ModelConfig glm4_moe_config() {
  ModelConfig config = moe_config();
  config.architecture = "glm4_moe";
  config.qkv_bias = true;
  config.intermediate = 96;
  config.feed_forward = {FeedForwardKind::kDense, FeedForwardKind::kMoe};
  config.rope.rotary = 8;
  config.moe->shared_intermediate = kWidth;
  config.moe->shared_gate = false;
  config.moe->normalize_top_k = true;
  config.moe->sigmoid = SigmoidRouting{.groups = 1, .chosen_groups = 1, .scale = 1.5F};
  return config;
}

inline Tensors glm4_moe_tensors(uint32_t seed = 1) {
  std::mt19937 random(seed + 2);
  Tensors t = moe_tensors(seed);
  std::erase_if(t, [](const auto& each) { return each.first.starts_with("model.layers.0.mlp."); });
  for (const auto& [name, tensor] : tiny_llama_tensors(seed)) {
    if (name.starts_with("model.layers.0.mlp.")) t[name] = tensor;
  }
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    t[layer + "self_attn.q_proj.bias"] = bf16_tensor({64}, 0, 0.3F, random);
    t[layer + "self_attn.k_proj.bias"] = bf16_tensor({32}, 0, 0.3F, random);
    t[layer + "self_attn.v_proj.bias"] = bf16_tensor({32}, 0, 0.3F, random);
  }
  const std::string mlp = "model.layers.1.mlp.";
  t[mlp + "gate.e_score_correction_bias"] = bf16_tensor({kExperts}, 0, 0.3F, random);
  add_shared_expert(t, mlp, kWidth, random);
  return t;
}

}  // namespace llmservice::testing
