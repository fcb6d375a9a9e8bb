// What the engine needs to know of a checkpoint's config.json, complete and checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantization_config.h"

namespace llmservice {

// Llama 3.1's stretch of the low rotary frequencies.
struct Llama3Scaling {
  double factor;
  double low_freq_factor;
  double high_freq_factor;
  double original_max_positions;
};

struct RopeConfig {
  double theta;
  int32_t rotary;  // features of each head that rotate
  std::optional<Llama3Scaling> scaling;
};

// Gated DeltaNet layers of hybrid models.
struct GdnConfig {
  int32_t k_heads;
  int32_t v_heads;
  int32_t k_dim;
  int32_t v_dim;
  int32_t conv_kernel;
};

enum class LayerKind : uint8_t { kAttention, kGdn };

struct ModelConfig {
  std::string architecture;  // model_type as written
  int32_t hidden;
  int32_t heads;
  int32_t kv_heads;
  int32_t head_dim;
  int32_t intermediate;
  int32_t vocab;
  float norm_eps;
  bool tied_head;
  bool attention_bias;
  bool mlp_bias;
  bool qk_norm;
  bool output_gate;       // q_proj emits [q | gate] per head
  bool unit_offset_norm;  // norms multiply by 1 + w
  RopeConfig rope;
  std::vector<LayerKind> layers;
  std::optional<GdnConfig> gdn;
  QuantizationConfig quantization;

  bool hybrid() const { return gdn.has_value(); }
};

// Parses the text of config.json. Throws UnsupportedArchitecture, UnsupportedQuantization or
// CheckpointCorrupt.
ModelConfig parse_model_config(std::string_view json);
// Reads DIR/config.json. Throws CheckpointIncomplete when it is not there.
ModelConfig read_model_config(const std::filesystem::path& dir);

}  // namespace llmservice
