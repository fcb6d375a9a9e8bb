// What config.json says of quantization: by which tool, and which modules it left alone. How a matrix really
// is stored, its tensors say (stored_weight.h); here only what the engine cannot run is refused.
#pragma once

#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace llmservice {

class QuantizationConfig {
 public:
  QuantizationConfig() = default;
  // `top` is the whole config.json. Throws UnsupportedQuantization or CheckpointCorrupt.
  explicit QuantizationConfig(const nlohmann::json& top);

  // Of a GGUF file some of whose matrices are quantized.
  static QuantizationConfig gguf();

  // quant_method as written; empty where the checkpoint declares no quantization.
  const std::string& method() const { return method_; }
  // True when no matrix is declared to be in a format other than FP8.
  bool fp8_only() const { return fp8_only_; }
  // The field that lists the modules left alone, for messages.
  const char* list_name() const { return list_name_; }
  // True when `module` (for example "model.layers.0.mlp.up_proj") is listed as not quantized.
  bool excludes(std::string_view module) const;

 private:
  void read_list(const nlohmann::json& quantization, const char* field);

  std::string method_;
  bool fp8_only_ = true;
  const char* list_name_ = "";
  std::vector<std::string> names_;    // without wrapper prefixes: modules, or ends of their names
  std::vector<std::regex> patterns_;  // over names with their prefixes
};

// "model.language_model.layers.0.x" -> "layers.0.x": wrapper prefixes differ between releases.
std::string_view without_wrapper(std::string_view module);

}  // namespace llmservice
