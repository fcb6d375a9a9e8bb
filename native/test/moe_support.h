// A tiny model whose layers are mixtures of experts.
#pragma once

#include "tiny_checkpoint.h"

namespace llmservice::testing {

constexpr int32_t kExperts = 3;
constexpr int64_t kWidth = 160;  // of an expert: one whole FP8 block and a part
constexpr int64_t kHidden = 64;

inline nlohmann::json moe_config(const char* type = "qwen3_moe") {
  nlohmann::json j = tiny_llama_config();
  j.update({{"model_type", type},
            {"num_experts", kExperts},
            {"num_experts_per_tok", 2},
            {"moe_intermediate_size", kWidth},
            {"shared_expert_intermediate_size", 32},
            {"linear_num_key_heads", 2},
            {"linear_num_value_heads", 4},
            {"linear_key_head_dim", 16},
            {"linear_value_head_dim", 8}});
  return j;
}

}  // namespace llmservice::testing
