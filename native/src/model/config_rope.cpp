// Rotary embedding and attention windows of config.json.
#include <cmath>

#include "model/config_parts.h"

namespace llmservice {
namespace {

using nlohmann::json;

double required(const ConfigFields& rope, const char* name) {
  if (!rope.has(name)) ConfigFields::fail(name, "is missing, which the rope scaling needs");
  const double value = rope.number_or(name, 0);
  if (!(value > 0)) ConfigFields::fail(name, "is not a positive number");
  return value;
}

double positive_or(const ConfigFields& rope, const char* name, double otherwise) {
  return rope.has(name) ? required(rope, name) : otherwise;
}

// 0.1 · mscale · ln(factor) + 1: how much longer contexts sharpen attention (YaRN, arXiv 2309.00071).
double yarn_temperature(double factor, double mscale) {
  return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

// The context that the model was trained on before its stretch.
double original_positions(const ConfigFields& rope, const ConfigFields& text) {
  const char* const name = "original_max_position_embeddings";
  if (text.has(name)) return required(text, name);
  return rope.has(name) ? required(rope, name) : required(text, "max_position_embeddings");
}

YarnScaling parse_yarn(const ConfigFields& rope, const ConfigFields& text) {
  const double original = original_positions(rope, text);
  const double factor =
      rope.has("factor") ? required(rope, "factor") : required(text, "max_position_embeddings") / original;
  const double mscale = rope.number_or("mscale", 0);
  const double mscale_all_dim = rope.number_or("mscale_all_dim", 0);
  const double implied = mscale != 0 && mscale_all_dim != 0
                             ? yarn_temperature(factor, mscale) / yarn_temperature(factor, mscale_all_dim)
                             : yarn_temperature(factor, 1);
  return {.factor = factor,
          .original_max_positions = original,
          .beta_fast = positive_or(rope, "beta_fast", 32),
          .beta_slow = positive_or(rope, "beta_slow", 1),
          .truncate = rope.flag_or("truncate", true),
          .attention_factor = positive_or(rope, "attention_factor", implied)};
}

RopeScaling parse_scaling(const ConfigFields& rope, const ConfigFields& text) {
  const std::string type = rope.text_or("rope_type", rope.text_or("type", "default").c_str());
  if (type == "default") return {};
  if (type == "linear") return LinearScaling{.factor = required(rope, "factor")};
  if (type == "yarn") return parse_yarn(rope, text);
  if (type != "llama3") {
    unsupported("config.json: rope_type \"" + type +
                "\" is not supported; supported are default, linear, llama3 and yarn.");
  }
  return Llama3Scaling{
      .factor = rope.number_or("factor", 8),
      .low_freq_factor = rope.number_or("low_freq_factor", 1),
      .high_freq_factor = rope.number_or("high_freq_factor", 4),
      .original_max_positions = rope.number_or("original_max_position_embeddings", 8192),
  };
}

}  // namespace

// Old configs hold rope_theta and partial_rotary_factor at the top level, new ones in rope_parameters.
RopeConfig parse_rope(const ConfigFields& text, int32_t head_dim, double default_factor) {
  const json object = text.object_or_empty(text.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
  const ConfigFields rope(object);
  const double theta = rope.number_or("rope_theta", text.number_or("rope_theta", 10000));
  const double factor =
      rope.number_or("partial_rotary_factor", text.number_or("partial_rotary_factor", default_factor));
  const auto rotary = static_cast<int32_t>(std::lround(head_dim * factor));
  if (rotary < 2 || rotary > head_dim || rotary % 2 != 0) {
    ConfigFields::fail(
        "partial_rotary_factor",
        "gives " + std::to_string(rotary) + " rotary features, which must be even and within the head");
  }
  return {.theta = theta, .rotary = rotary, .scaling = parse_scaling(rope, text)};
}

// The layers that layer_types says slide; nothing when config.json has no such list.
std::optional<std::vector<bool>> named_sliding(const ConfigFields& text, int32_t layers) {
  if (!text.has("layer_types")) return std::nullopt;
  const json& types = text.at("layer_types");
  if (!types.is_array() || types.size() != static_cast<size_t>(layers)) {
    ConfigFields::fail("layer_types", "does not name each of the " + std::to_string(layers) + " layers");
  }
  std::vector<bool> sliding;
  for (const json& type : types) {
    if (type != "full_attention" && type != "sliding_attention") {
      unsupported("config.json: layer_types has " + type.dump() +
                  "; supported are full_attention and sliding_attention.");
    }
    sliding.push_back(type == "sliding_attention");
  }
  return sliding;
}

// qwen3 slides in the layers that layer_types names, else from max_window_layers on; qwen3_moe in all.
std::vector<int32_t> parse_windows(const ConfigFields& text, const std::string& architecture,
                                   int32_t layers) {
  std::vector<int32_t> windows(layers, 0);
  const bool slides = text.flag_or("use_sliding_window", false) && text.has("sliding_window");
  if (slides && architecture != "qwen3" && architecture != "qwen3_moe") {
    unsupported("config.json: use_sliding_window is true; sliding-window attention is not supported for " +
                architecture + ", only for qwen3 and qwen3_moe.");
  }
  const int32_t window = slides ? text.positive("sliding_window") : 0;
  if (architecture == "qwen3_moe") return std::vector(layers, window);
  if (architecture != "qwen3") return windows;
  const auto named = named_sliding(text, layers);
  const double first = text.number_or("max_window_layers", 28);
  for (int32_t i = 0; i < layers; ++i) {
    if (named ? (*named)[i] : i >= first) windows[i] = window;
    if (named && (*named)[i] && !slides) {
      ConfigFields::fail("layer_types", "names sliding_attention but use_sliding_window is not true");
    }
  }
  return windows;
}

}  // namespace llmservice
