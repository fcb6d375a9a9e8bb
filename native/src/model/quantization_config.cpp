// quantization_config of the three tools whose checkpoints the engine reads: "fp8" (transformers and vLLM),
// compressed-tensors, and modelopt.
#include "model/quantization_config.h"

#include <algorithm>

#include "model/config_fields.h"

namespace llmservice {
namespace {

using nlohmann::json;

constexpr const char* kSupported =
    "supported are unquantized matrices (BF16, F16, F32), FP8 e4m3 (one scale per tensor, row or 128x128 "
    "block) and NVFP4, as fp8, compressed-tensors and modelopt checkpoints hold them";

[[noreturn]] void unsupported(const std::string& found) {
  throw EngineError("UnsupportedQuantization", "config.json: " + found + "; " + kSupported + ".");
}

std::string shown(const json& object, const char* field) {
  return std::string(field) + " " + (object.contains(field) ? object[field].dump() : "missing");
}

void check_fp8(const json& quantization) {
  const ConfigFields fields(quantization);
  if (fields.text_or("fmt", "e4m3") != "e4m3") unsupported("fp8 with " + shown(quantization, "fmt"));
  if (fields.has("weight_block_size") && fields.at("weight_block_size") != json::array({128, 128})) {
    unsupported("fp8 with " + shown(quantization, "weight_block_size"));
  }
}

// One entry of config_groups: FP8 by tensor, channel or 128x128 block, or NVFP4 in groups of 16.
bool runs(const json& weights) {
  if (!weights.is_object() || weights.value("type", "") != "float" || !weights.value("symmetric", true)) {
    return false;
  }
  const std::string strategy = weights.value("strategy", "");
  if (weights.value("num_bits", 0) == 4) {
    return weights.value("group_size", 0) == 16 && (strategy == "tensor_group" || strategy == "group");
  }
  const json block = weights.value("block_structure", json::array({128, 128}));
  return weights.value("num_bits", 0) == 8 && (strategy == "tensor" || strategy == "channel" ||
                                               (strategy == "block" && block == json::array({128, 128})));
}

// Returns whether all groups are FP8.
bool check_groups(const json& quantization) {
  bool fp8 = true;
  const json groups = ConfigFields(quantization).object_or_empty("config_groups");
  for (const auto& [name, group] : groups.items()) {
    const json weights = group.is_object() ? group.value("weights", json()) : json();
    bool known = false;
    try {
      known = runs(weights);
    } catch (const json::exception&) {  // a field of another type: shown below
    }
    if (!known) unsupported("config_groups." + name + " has weights " + weights.dump());
    fp8 = fp8 && weights["num_bits"] == 8;
  }
  return fp8;
}

// Whether an algorithm of modelopt is FP8; `holder` names it, and is named `where` in config.json.
bool check_algorithm(const json& holder, const std::string& where) {
  const std::string algorithm = ConfigFields(holder).text_or("quant_algo", "");
  if (algorithm == "FP8") return true;
  // With activations in 4 or in 16 bits, which is not about weights.
  if (algorithm == "NVFP4" || algorithm == "W4A16_NVFP4") return false;
  unsupported(where + " with " + shown(holder, "quant_algo"));
}

// Of MIXED_PRECISION each entry of quantized_layers has an algorithm of its own.
bool check_modelopt(const json& quantization) {
  const ConfigFields fields(quantization);
  const json layers = fields.object_or_empty("quantized_layers");
  if (fields.text_or("quant_algo", "") != "MIXED_PRECISION" || layers.empty()) {
    return check_algorithm(quantization, "modelopt");
  }
  bool fp8 = true;
  for (const auto& [module, layer] : layers.items()) {
    const std::string where = "quantized_layers." + module;
    if (!layer.is_object()) unsupported(where + " is " + layer.dump());
    fp8 = check_algorithm(layer, where) && fp8;
  }
  return fp8;
}

// modelopt's lists hold names with "*"; compressed-tensors marks regular expressions with "re:".
std::regex to_pattern(const std::string& entry) {
  std::string pattern = entry.starts_with("re:") ? entry.substr(3) : "";
  if (pattern.empty()) {
    for (const char c : entry) {
      if (c == '*') {
        pattern += ".*";
      } else {
        if (c == '.') pattern += '\\';
        pattern += c;
      }
    }
    pattern += '$';
  }
  try {
    return std::regex(pattern);
  } catch (const std::regex_error&) {
    ConfigFields::fail("quantization_config", "has \"" + entry +
                                                  "\", which is no regular expression that this "
                                                  "engine reads; list the modules by name");
  }
}

}  // namespace

std::string_view without_wrapper(std::string_view module) {
  for (const std::string_view prefix :
       {"model.language_model.", "language_model.model.", "language_model.", "model."}) {
    if (module.starts_with(prefix)) return module.substr(prefix.size());
  }
  return module;
}

QuantizationConfig::QuantizationConfig(const json& top) {
  const ConfigFields fields(top);
  const json quantization = fields.object_or_empty(fields.has("quantization_config") ? "quantization_config"
                                                                                     : "compression_config");
  if (quantization.empty()) return;
  method_ = ConfigFields(quantization).text_or("quant_method", "");
  if (method_ == "fp8") {
    check_fp8(quantization);
    read_list(quantization,
              quantization.contains("ignored_layers") ? "ignored_layers" : "modules_to_not_convert");
  } else if (method_ == "compressed-tensors") {
    fp8_only_ = check_groups(quantization);
    read_list(quantization, "ignore");
  } else if (method_ == "modelopt" || method_ == "modelopt_fp4") {
    fp8_only_ = check_modelopt(quantization);
    read_list(quantization, quantization.contains("exclude_modules") ? "exclude_modules" : "ignore");
  } else {
    unsupported("quantization_config has " + shown(quantization, "quant_method"));
  }
}

QuantizationConfig QuantizationConfig::gguf() {
  QuantizationConfig config;
  config.method_ = "gguf";
  config.fp8_only_ = false;
  return config;
}

void QuantizationConfig::read_list(const json& quantization, const char* field) {
  list_name_ = field;
  const ConfigFields fields(quantization);
  if (!fields.has(field)) return;
  if (!fields.at(field).is_array()) ConfigFields::fail(field, "is not a list");
  for (const json& entry : fields.at(field)) {
    if (!entry.is_string()) ConfigFields::fail(field, "has an entry that is not a string");
    const auto& name = entry.get_ref<const std::string&>();
    if (name.starts_with("re:") || name.find('*') != std::string::npos) {
      patterns_.push_back(to_pattern(name));
    } else {
      names_.emplace_back(without_wrapper(name));
    }
  }
}

bool QuantizationConfig::excludes(std::string_view module) const {
  const std::string_view name = without_wrapper(module);
  const auto listed = [&](const std::string& entry) {
    if (name == entry) return true;
    return name.size() > entry.size() &&
           ((name.starts_with(entry) && name[entry.size()] == '.') ||
            (name.ends_with(entry) && name[name.size() - entry.size() - 1] == '.'));
  };
  const auto matches = [&](const std::regex& pattern) {
    return std::regex_search(module.begin(), module.end(), pattern, std::regex_constants::match_continuous);
  };
  return std::any_of(names_.begin(), names_.end(), listed) ||
         std::any_of(patterns_.begin(), patterns_.end(), matches);
}

}  // namespace llmservice
