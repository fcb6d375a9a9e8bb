// The metadata is put in the words of config.json, which are then read as those of any checkpoint. What the
// converter did to the weights, and config.json has no words for, is set afterwards.
#include "model/gguf_config.h"

#include <nlohmann/json.hpp>

#include "model/gguf_keys.h"
#include "ops/dtype.h"

namespace llmservice {
namespace {

using nlohmann::json;

const TensorEntry* find_tensor(const GgufFile& file, const std::string& name) {
  const auto found = file.header().tensors.find(name);
  return found == file.header().tensors.end() ? nullptr : &found->second;
}

int64_t head_dim(const GgufKeys& keys) {
  const int64_t heads = keys.count("attention.head_count");
  const int64_t dim = keys.count_or("attention.key_length", keys.count("embedding_length") / heads);
  if (keys.count_or("attention.value_length", dim) != dim) {
    keys.unsupported("attention.value_length differs from attention.key_length, which is not supported");
  }
  return dim;
}

void add_rope(const GgufKeys& keys, int64_t head_dim, json& config) {
  json rope = {{"rope_theta", keys.number_or("rope.freq_base", 10000)}};
  rope["partial_rotary_factor"] =
      static_cast<double>(keys.count_or("rope.dimension_count", head_dim)) / static_cast<double>(head_dim);
  const std::string type = keys.text_or("rope.scaling.type", "none");
  if (type == "linear" || type == "yarn") {
    rope["rope_type"] = type;
    rope["factor"] = keys.number_or("rope.scaling.factor", 1);
    if (keys.has("rope.scaling.original_context_length")) {
      rope["original_max_position_embeddings"] = keys.count("rope.scaling.original_context_length");
    }
  } else if (type != "none") {
    keys.unsupported("rope.scaling.type \"" + type +
                     "\" is not supported; supported are none, linear and yarn");
  }
  config["rope_parameters"] = rope;
}

void add_experts(const GgufKeys& keys, json& config) {
  if (!keys.sparse()) {
    if (keys.number_or("expert_count", 0) > 0)
      keys.unsupported("it has experts, which " + keys.architecture() + " does not have here");
    return;
  }
  if (keys.number_or("expert_gating_func", 1) != 1)
    keys.unsupported("expert_gating_func is not softmax, the only one that is supported");
  const double scale = keys.number_or("expert_weights_scale", 1);
  if (scale != 0 && scale != 1) keys.unsupported("expert_weights_scale is not supported");
  config["num_experts"] = keys.count("expert_count");
  config["num_experts_per_tok"] = keys.count("expert_used_count");
  config["moe_intermediate_size"] = keys.count("expert_feed_forward_length");
  config["norm_topk_prob"] = keys.flag_or("expert_weights_norm", true);
  if (keys.hybrid())
    config["shared_expert_intermediate_size"] = keys.count("expert_shared_feed_forward_length");
}

void add_gdn(const GgufKeys& keys, json& config) {
  if (!keys.hybrid()) return;
  const int64_t v_heads = keys.count("ssm.time_step_rank");
  const int64_t inner = keys.count("ssm.inner_size");
  if (inner % v_heads != 0) keys.fail("ssm.inner_size", "is not a multiple of ssm.time_step_rank");
  config["linear_num_key_heads"] = keys.count("ssm.group_count");
  config["linear_num_value_heads"] = v_heads;
  config["linear_key_head_dim"] = keys.count("ssm.state_size");
  config["linear_value_head_dim"] = inner / v_heads;
  config["linear_conv_kernel_dim"] = keys.count("ssm.conv_kernel");
  config["full_attention_interval"] = keys.count_or("full_attention_interval", 4);
}

const char* model_type(const GgufKeys& keys) {
  if (keys.hybrid()) return keys.sparse() ? "qwen3_5_moe_text" : "qwen3_5_text";
  if (keys.sparse()) return "qwen3_moe";
  return keys.architecture() == "llama" ? "llama" : "qwen3";
}

json to_config(const GgufFile& file, const GgufKeys& keys) {
  if (keys.number_or("attention.sliding_window", 0) > 0)
    keys.unsupported("attention.sliding_window is not supported in GGUF files");
  const TensorEntry* table = find_tensor(file, "token_embd.weight");
  if (table == nullptr || table->shape.size() != 2) {
    throw EngineError("CheckpointIncomplete", file.name() + " has no matrix token_embd.weight.");
  }
  const int64_t dim = head_dim(keys);
  json config = {
      {"model_type", model_type(keys)},
      {"hidden_size", keys.count("embedding_length")},
      {"num_hidden_layers", keys.layers()},
      {"num_attention_heads", keys.count("attention.head_count")},
      {"num_key_value_heads", keys.count_or("attention.head_count_kv", keys.count("attention.head_count"))},
      {"head_dim", dim},
      {"rms_norm_eps", keys.number_or("attention.layer_norm_rms_epsilon", 1e-6)},
      {"max_position_embeddings", keys.count("context_length")},
      {"vocab_size", table->shape[0]},
      {"tie_word_embeddings", find_tensor(file, "output.weight") == nullptr},
      {"attention_bias", find_tensor(file, "blk.0.attn_q.bias") != nullptr},
      {"mlp_bias", find_tensor(file, "blk.0.ffn_gate.bias") != nullptr}};
  if (!keys.sparse()) config["intermediate_size"] = keys.count("feed_forward_length");
  add_rope(keys, dim, config);
  add_experts(keys, config);
  add_gdn(keys, config);
  return config;
}

bool has_blocks(const GgufFile& file) {
  using enum DType;
  for (const auto& [name, entry] : file.header().tensors) {
    for (const DType type : {kQ8_0, kQ4_0, kQ4_K, kQ6_K}) {
      if (entry.dtype == name_of(type)) return true;
    }
  }
  return false;
}

}  // namespace

ModelConfig read_gguf_config(const std::filesystem::path& path) {
  const GgufFile file(path);
  const GgufKeys keys(file);
  ModelConfig config = parse_model_config(to_config(file, keys).dump());
  config.unit_offset_norm = false;  // norms hold 1 + w
  if (config.gdn) config.gdn->tiled = config.gdn->v_heads != config.gdn->k_heads;
  if (has_blocks(file)) config.quantization = QuantizationConfig::gguf();
  return config;
}

}  // namespace llmservice
