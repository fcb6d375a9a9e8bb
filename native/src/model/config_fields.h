// Typed access to the fields of config.json: each miss names the field and what it should hold.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "ops/error.h"

namespace llmservice {

class ConfigFields {
 public:
  explicit ConfigFields(const nlohmann::json& object) : object_(object) {}

  bool has(const char* name) const { return object_.contains(name) && !object_[name].is_null(); }
  const nlohmann::json& at(const char* name) const { return object_[name]; }
  const nlohmann::json& object() const { return object_; }

  int32_t positive(const char* name) const { return positive_or(name, 0); }
  // `otherwise` 0: the field is required.
  int32_t positive_or(const char* name, int32_t otherwise) const {
    if (!has(name)) {
      if (otherwise > 0) return otherwise;
      fail(name, "is missing");
    }
    const auto& value = object_[name];
    if (!value.is_number_integer() || value < 1 || value > 1 << 30) fail(name, "is not a positive integer");
    return value.get<int32_t>();
  }
  // Layers or experts: there is something in memory for each, before it is known whether there are weights
  // for it.
  int32_t count(const char* name) const {
    const int32_t value = positive(name);
    if (value > kMostParts) fail(name, "is beyond " + std::to_string(kMostParts));
    return value;
  }
  double number_or(const char* name, double otherwise) const {
    if (!has(name)) return otherwise;
    if (!object_[name].is_number()) fail(name, "is not a number");
    return object_[name].get<double>();
  }
  bool flag_or(const char* name, bool otherwise) const {
    if (!has(name)) return otherwise;
    if (!object_[name].is_boolean()) fail(name, "is not true or false");
    return object_[name].get<bool>();
  }
  std::string text_or(const char* name, const char* otherwise) const {
    if (!has(name)) return otherwise;
    if (!object_[name].is_string()) fail(name, "is not a string");
    return object_[name].get<std::string>();
  }
  // The object in field `name`, or an empty one.
  nlohmann::json object_or_empty(const char* name) const {
    if (!has(name)) return nlohmann::json::object();
    if (!object_[name].is_object()) fail(name, "is not an object");
    return object_[name];
  }

  [[noreturn]] static void fail(const char* name, const std::string& what) {
    throw EngineError("CheckpointCorrupt", std::string("config.json: ") + name + " " + what + ".");
  }

 private:
  static constexpr int32_t kMostParts = 10'000;  // several times what any model has

  const nlohmann::json& object_;
};

}  // namespace llmservice
