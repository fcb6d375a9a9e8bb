// Fields of the JSON in which TypeScript describes a checkpoint.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace llmservice {

// Those of one object; finish() refuses those that nobody asked for.
class Fields {
 public:
  Fields(const nlohmann::json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) wrong(path_, "an object");
  }

  const nlohmann::json& at(const char* name) {
    ++read_;
    const auto found = object_.find(name);
    if (found == object_.end()) wrong(path_ + name, "there");
    return *found;
  }
  template <class T>
  T get(const char* name) {
    const nlohmann::json& value = at(name);
    try {
      return value.get<T>();
    } catch (const nlohmann::json::exception&) {
      wrong(path_ + name, "of another type");
    }
  }
  template <class T>
  T choice(const char* name, std::initializer_list<std::pair<const char*, T>> choices) {
    return chosen(at(name), path_ + name, choices);
  }
  template <class T>
  std::vector<T> choices(const char* name, std::initializer_list<std::pair<const char*, T>> choices) {
    std::vector<T> all;
    for (const nlohmann::json& each : at(name)) all.push_back(chosen(each, path_ + name, choices));
    return all;
  }
  Fields object(const char* name) { return {at(name), path_ + name + "."}; }
  bool has(const char* name) const { return object_.contains(name); }
  bool is_null(const char* name) {
    const bool null = at(name).is_null();
    if (!null) --read_;  // who asks reads it next
    return null;
  }
  void finish() const {
    if (read_ != object_.size()) wrong(path_, "without further fields");
  }

  [[noreturn]] static void wrong(const std::string& path, const std::string& expected) {
    throw std::invalid_argument("checkpoint: " + path + " is not " + expected + ".");
  }

 private:
  template <class T>
  static T chosen(const nlohmann::json& value, const std::string& path,
                  std::initializer_list<std::pair<const char*, T>> choices) {
    for (const auto& [name, choice] : choices) {
      if (value == name) return choice;
    }
    wrong(path, "one of its values");
  }

  const nlohmann::json& object_;
  std::string path_;
  size_t read_ = 0;
};

}  // namespace llmservice
