// config.json -> ModelConfig: architectures, layer kinds, quantization.
#include "model/config.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "model/config_parts.h"
#include "model/gguf_config.h"

namespace llmservice {
namespace {

using nlohmann::json;

constexpr std::array kSupported = {"llama",   "qwen3",        "qwen3_moe",   "qwen3_next",
                                   "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text"};

// A hybrid's prefix covers its mixture and text-only variants.
bool is_hybrid(const std::string& architecture) {
  return architecture.starts_with("qwen3_5") || architecture == "qwen3_next";
}

// As transformers' configurations have it.
int32_t default_head_dim(const std::string& architecture, const ModelConfig& config) {
  if (is_hybrid(architecture)) return 256;
  return architecture == "qwen3" ? 128 : std::max(1, config.hidden / config.heads);
}

std::vector<LayerKind> parse_layers(const ConfigFields& text, bool hybrid) {
  const int32_t count = text.count("num_hidden_layers");
  std::vector<LayerKind> layers(count, LayerKind::kAttention);
  if (!hybrid) return layers;
  if (!text.has("layer_types")) {
    const int32_t interval = text.positive_or("full_attention_interval", 4);
    for (int32_t i = 0; i < count; ++i) {
      if ((i + 1) % interval != 0) layers[i] = LayerKind::kGdn;
    }
    return layers;
  }
  const json& types = text.at("layer_types");
  if (!types.is_array() || types.size() != layers.size()) {
    ConfigFields::fail("layer_types", "does not name each of the " + std::to_string(count) + " layers");
  }
  for (int32_t i = 0; i < count; ++i) {
    if (types[i] == "linear_attention") {
      layers[i] = LayerKind::kGdn;
    } else if (types[i] != "full_attention") {
      unsupported("config.json: layer_types[" + std::to_string(i) + "] is " + types[i].dump() +
                  "; supported are full_attention and linear_attention.");
    }
  }
  return layers;
}

GdnConfig parse_gdn(const ConfigFields& text) {
  const GdnConfig gdn{.k_heads = text.positive("linear_num_key_heads"),
                      .v_heads = text.positive("linear_num_value_heads"),
                      .k_dim = text.positive("linear_key_head_dim"),
                      .v_dim = text.positive("linear_value_head_dim"),
                      .conv_kernel = text.positive_or("linear_conv_kernel_dim", 4)};
  if (gdn.v_heads % gdn.k_heads != 0) {
    ConfigFields::fail("linear_num_value_heads", "is not a multiple of linear_num_key_heads");
  }
  return gdn;
}

void check_attention(const ConfigFields& text, const ModelConfig& config) {
  if (config.heads % config.kv_heads != 0) {
    ConfigFields::fail("num_attention_heads", "is not a multiple of num_key_value_heads");
  }
  const std::string activation = text.text_or("hidden_act", "silu");
  if (activation != "silu")
    unsupported("config.json: hidden_act \"" + activation + "\" is not supported, only silu.");
}

ModelConfig parse_text_config(const ConfigFields& text, const ConfigFields& top,
                              const std::string& architecture) {
  const bool hybrid = is_hybrid(architecture);
  ModelConfig config{};
  config.architecture = architecture;
  config.hidden = text.positive("hidden_size");
  config.heads = text.positive("num_attention_heads");
  config.kv_heads = text.positive_or("num_key_value_heads", config.heads);
  config.head_dim = text.positive_or("head_dim", default_head_dim(architecture, config));
  config.vocab = text.positive("vocab_size");
  config.norm_eps = static_cast<float>(text.number_or("rms_norm_eps", 1e-6));
  config.tied_head = text.flag_or("tie_word_embeddings", top.flag_or("tie_word_embeddings", false));
  config.attention_bias = text.flag_or("attention_bias", false);
  config.mlp_bias = architecture == "llama" && text.flag_or("mlp_bias", false);
  config.qk_norm = architecture != "llama";
  config.output_gate = hybrid && text.flag_or("attn_output_gate", true);
  config.unit_offset_norm = hybrid;
  config.rope = parse_rope(text, config.head_dim, hybrid ? 0.25 : 1.0);
  config.layers = parse_layers(text, hybrid);
  const auto layers = static_cast<int32_t>(config.layers.size());
  config.windows = parse_windows(text, architecture, layers);
  config.moe = parse_moe(text, architecture);
  config.feed_forward = parse_feed_forward(text, architecture, layers);
  const bool dense = std::ranges::count(config.feed_forward, FeedForwardKind::kDense) > 0;
  config.intermediate = dense ? text.positive("intermediate_size") : 0;
  if (hybrid) config.gdn = parse_gdn(text);
  config.gdn_interleaved = architecture == "qwen3_next";
  config.quantization = QuantizationConfig(top.object());
  check_attention(text, config);
  return config;
}

}  // namespace

void unsupported(const std::string& message) { throw EngineError("UnsupportedArchitecture", message); }

ModelConfig parse_model_config(std::string_view text) {
  const json root = json::parse(text, nullptr, false);
  if (!root.is_object()) throw EngineError("CheckpointCorrupt", "config.json is not a JSON object.");
  const ConfigFields top(root);
  const std::string architecture = top.text_or("model_type", "");
  if (std::ranges::find(kSupported, architecture) == kSupported.end()) {
    std::string supported;
    for (const std::string name : kSupported) supported += (supported.empty() ? "" : ", ") + name;
    unsupported("config.json: model_type \"" + architecture + "\" is not supported; supported are " +
                supported + ".");
  }
  if (!top.has("text_config")) return parse_text_config(top, top, architecture);
  const json nested = top.object_or_empty("text_config");
  return parse_text_config(ConfigFields(nested), top, architecture);
}

ModelConfig read_model_config(const std::filesystem::path& dir) {
  if (const auto gguf = find_gguf(dir)) return read_gguf_config(*gguf);
  std::ifstream file(dir / "config.json", std::ios::binary);
  if (!file) {
    throw EngineError("CheckpointIncomplete", "There is no readable config.json in " + dir.string() + ".");
  }
  std::stringstream text;
  text << file.rdbuf();
  return parse_model_config(text.str());
}

}  // namespace llmservice
