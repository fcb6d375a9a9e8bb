#include "model/gguf_keys.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/error.h"

namespace llmservice {
namespace {

constexpr std::array kArchitectures = {"llama", "qwen3", "qwen3moe", "qwen35", "qwen35moe"};

}  // namespace

GgufKeys::GgufKeys(const GgufFile& file) : file_(file) {
  const auto& values = file.header().values;
  const auto found = values.find("general.architecture");
  const auto* name = found == values.end() ? nullptr : std::get_if<std::string>(&found->second);
  if (name != nullptr) architecture_ = *name;
  if (std::ranges::find(kArchitectures, architecture_) != kArchitectures.end()) return;
  std::string supported;
  for (const std::string architecture : kArchitectures)
    supported += (supported.empty() ? "" : ", ") + architecture;
  unsupported("general.architecture is " + (name == nullptr ? "missing" : "\"" + architecture_ + "\"") +
              "; supported in GGUF files are " + supported);
}

const GgufValue* GgufKeys::find(const char* key) const {
  const auto& values = file_.header().values;
  const auto found = values.find(architecture_ + "." + key);
  return found == values.end() ? nullptr : &found->second;
}

int64_t GgufKeys::count(const char* key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) fail(key, "is missing, or differs from layer to layer");
  const auto* whole = std::get_if<int64_t>(value);
  if (whole == nullptr || *whole < 1 || *whole > 1 << 30) fail(key, "is not a positive integer");
  return *whole;
}

double GgufKeys::number_or(const char* key, double otherwise) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return otherwise;
  if (const auto* whole = std::get_if<int64_t>(value)) return static_cast<double>(*whole);
  const auto* number = std::get_if<double>(value);
  if (number == nullptr || !std::isfinite(*number)) fail(key, "is not a finite number");
  return *number;
}

bool GgufKeys::flag_or(const char* key, bool otherwise) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return otherwise;
  const auto* flag = std::get_if<bool>(value);
  if (flag == nullptr) fail(key, "is not true or false");
  return *flag;
}

std::string GgufKeys::text_or(const char* key, const char* otherwise) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return otherwise;
  const auto* text = std::get_if<std::string>(value);
  if (text == nullptr) fail(key, "is not a text");
  return *text;
}

int64_t GgufKeys::layers() const {
  const int64_t drafting =
      has("nextn_predict_layers") ? static_cast<int64_t>(number_or("nextn_predict_layers", 0)) : 0;
  const int64_t layers = count("block_count") - drafting;
  // Each has tensors, so that a wrong number takes no memory.
  if (layers > static_cast<int64_t>(file_.header().tensors.size())) {
    fail("block_count", "is " + std::to_string(layers) + ", more than the file has tensors");
  }
  if (drafting < 0 || layers < 1) fail("nextn_predict_layers", "leaves no layer of block_count");
  return layers;
}

void GgufKeys::fail(const char* key, const std::string& what) const {
  throw EngineError("CheckpointCorrupt",
                    file_.name() + ": key " + architecture_ + "." + key + " " + what + ".");
}

void GgufKeys::unsupported(const std::string& what) const {
  throw EngineError("UnsupportedArchitecture", file_.name() + ": " + what + ".");
}

}  // namespace llmservice
