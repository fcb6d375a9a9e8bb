// What the engine says -> JavaScript values as ts/bridge/ declares them: the other way of js_reader.h.
#pragma once

#include <napi.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bridge/structs.h"
#include "engine/plan.h"

namespace llmservice {

class JsWriter {
 public:
  explicit JsWriter(Napi::Env env) : env_(env) {}

  template <Fielded T>
  Napi::Object write(const T& value) const {
    auto out = Napi::Object::New(env_);
    visit_fields(value, [&](const char* name, const auto& field) { out.Set(name, write(field)); });
    return out;
  }
  Napi::Object write(const Fault& fault) const {
    auto out = Napi::Object::New(env_);
    out.Set("slot", fault.slot);
    out.Set("position", fault.position);
    out.Set("kind", write(fault.kind));
    out.Set("layer", write(fault.place.layer));
    out.Set("part", fault.place.part);
    return out;
  }
  template <class T>
  Napi::Value write(const std::optional<T>& value) const {
    return value ? Napi::Value(write(*value)) : env_.Null();
  }
  template <class T>
  Napi::Array write(const std::vector<T>& values) const {
    auto out = Napi::Array::New(env_, values.size());
    for (uint32_t i = 0; i < values.size(); ++i) out.Set(i, write(values[i]));
    return out;
  }
  // Of each slot: its index, how many, and as many ids.
  Napi::Int32Array write(const std::vector<HeldDrafts>& drafts) const {
    std::vector<int32_t> flat;
    for (const auto& [slot, tokens] : drafts) {
      flat.push_back(slot);
      flat.push_back(static_cast<int32_t>(tokens.size()));
      flat.insert(flat.end(), tokens.begin(), tokens.end());
    }
    return write(flat);
  }
  Napi::Int32Array write(const std::vector<int32_t>& values) const { return copy<Napi::Int32Array>(values); }
  Napi::Float32Array write(const std::vector<float>& values) const {
    return copy<Napi::Float32Array>(values);
  }
  Napi::BigUint64Array write(const std::vector<uint64_t>& values) const {
    return copy<Napi::BigUint64Array>(values);
  }
  Napi::Uint8Array write(const std::vector<Finish>& values) const { return copy<Napi::Uint8Array>(values); }
  Napi::String write(const std::string& text) const { return Napi::String::New(env_, text); }
  Napi::String write(Named auto value) const { return Napi::String::New(env_, name_of(value)); }
  Napi::Boolean write(bool value) const { return Napi::Boolean::New(env_, value); }
  template <class T>
  requires std::is_arithmetic_v<T> Napi::Number write(T value)
  const { return Napi::Number::New(env_, static_cast<double>(value)); }

 private:
  template <class Array, class T>
  Array copy(const std::vector<T>& values) const {
    auto array = Array::New(env_, values.size());
    std::ranges::transform(values, array.Data(), [](T value) {
      return static_cast<std::remove_pointer_t<decltype(array.Data())>>(value);
    });
    return array;
  }

  Napi::Env env_;
};

}  // namespace llmservice
