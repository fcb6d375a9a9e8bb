// JavaScript values -> what bridge/structs.h declares. Every field must be there and no other; what is not as
// ts/bridge/ declares it throws Napi::TypeError with its path.
#pragma once

#include <napi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bridge/structs.h"
#include "grammar/after_reasoning.h"
#include "napi/grammars.h"

namespace llmservice {

class JsReader {
 public:
  // `name` stands for the value in messages.
  template <class T>
  static T read(const Napi::Value& value, const char* name) {
    T out;
    get(value, {.name = name}, out);
    return out;
  }

 private:
  // Where a value is; becomes text only for a message.
  struct Path {
    std::string text() const {
      if (above == nullptr) return name;
      return above->text() + (name == nullptr ? "[" + std::to_string(index) + "]" : "." + std::string(name));
    }
    const Path* above = nullptr;
    const char* name = nullptr;  // null: `index` of an array
    uint32_t index = 0;
  };

  [[noreturn]] static void refuse(const Napi::Value& value, const Path& at, const std::string& what) {
    throw Napi::TypeError::New(value.Env(), at.text() + " " + what + ".");
  }
  static void require(bool holds, const Napi::Value& value, const Path& at, const char* expected) {
    if (!holds) refuse(value, at, std::string("must be ") + expected);
  }

  template <Fielded T>
  static void get(const Napi::Value& value, const Path& at, T& out) {
    require(value.IsObject(), value, at, "an object");
    const auto object = value.As<Napi::Object>();
    uint32_t fields = 0;
    visit_fields(out, [&](const char* name, auto&& field) {
      ++fields;
      const Path here{.above = &at, .name = name};
      const Napi::Value given = object.Get(name);
      if (given.IsUndefined()) refuse(given, here, "is missing");
      get(given, here, field);
    });
    const Napi::Array given = object.GetPropertyNames();
    for (uint32_t i = 0; given.Length() != fields && i < given.Length(); ++i) {
      const std::string name = given.Get(i).As<Napi::String>();
      bool is_field = false;
      visit_fields(out, [&](const char* field, auto&&) { is_field = is_field || name == field; });
      if (!is_field) refuse(value, at, "has no field " + name);
    }
  }

  template <Named T>
  static void get(const Napi::Value& value, const Path& at, T& out) {
    const std::string given = value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
    const auto found = std::ranges::find(kNames<T>, given);
    if (found == kNames<T>.end()) {
      std::string names;
      for (const char* name : kNames<T>) names += (names.empty() ? "'" : ", '") + std::string(name) + "'";
      refuse(value, at, "must be one of " + names);
    }
    out = static_cast<T>(found - kNames<T>.begin());
  }

  template <class T>
  static void get(const Napi::Value& value, const Path& at, std::optional<T>& out) {
    if (!value.IsNull()) get(value, at, out.emplace());
  }
  template <class T>
  static void get(const Napi::Value& value, const Path& at, OrNeutral<T> out) {
    if (!value.IsNull()) get(value, at, out.value);
  }

  template <class T>
  static void get(const Napi::Value& value, const Path& at, std::vector<T>& out) {
    require(value.IsArray(), value, at, "an array");
    const auto array = value.As<Napi::Array>();
    out.resize(array.Length());
    for (uint32_t i = 0; i < out.size(); ++i) get(array[i], {.above = &at, .index = i}, out[i]);
  }
  // Rows of integers, one after the other.
  template <Row T>
  static void get(const Napi::Value& value, const Path& at, std::vector<T>& out) {
    std::vector<int32_t> flat;
    get(value, at, flat);
    constexpr size_t kWidth = sizeof(T) / sizeof(int32_t);
    if (flat.size() % kWidth != 0) refuse(value, at, "must be rows of " + std::to_string(kWidth));
    out.resize(flat.size() / kWidth);
    auto next = flat.begin();
    for (T& row : out) visit_fields(row, [&](const char*, int32_t& field) { field = *next++; });
  }
  static void get(const Napi::Value& value, const Path& at, std::vector<int32_t>& out) {
    copy<Napi::Int32Array>(value, at, napi_int32_array, "an Int32Array", out);
  }
  static void get(const Napi::Value& value, const Path& at, std::vector<float>& out) {
    copy<Napi::Float32Array>(value, at, napi_float32_array, "a Float32Array", out);
  }
  template <class Array, class T>
  static void copy(const Napi::Value& value, const Path& at, napi_typedarray_type type, const char* expected,
                   std::vector<T>& out) {
    require(value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == type, value, at,
            expected);
    const auto array = value.As<Array>();
    out.assign(array.Data(), array.Data() + array.ElementLength());
  }

  template <class T>
  static void get(const Napi::Value& value, const Path& at, std::map<std::string, T>& out) {
    require(value.IsObject(), value, at, "an object");
    const auto object = value.As<Napi::Object>();
    const Napi::Array names = object.GetPropertyNames();
    for (uint32_t i = 0; i < names.Length(); ++i) {
      const std::string name = names.Get(i).As<Napi::String>();
      get(object.Get(name), {.above = &at, .name = name.c_str()}, out[name]);
    }
  }

  static void get(const Napi::Value& value, const Path& at, double& out) {
    require(value.IsNumber(), value, at, "a number");
    out = value.As<Napi::Number>().DoubleValue();
  }
  static void get(const Napi::Value& value, const Path& at, float& out) {
    double number = 0;
    get(value, at, number);
    out = static_cast<float>(number);
  }
  static void get(const Napi::Value& value, const Path& at, int32_t& out) {
    double number = 0;
    get(value, at, number);
    out = value.As<Napi::Number>().Int32Value();
    require(number == out, value, at, "a 32-bit integer");
  }
  static void get(const Napi::Value& value, const Path& at, int64_t& out) {
    double number = 0;
    get(value, at, number);
    out = value.As<Napi::Number>().Int64Value();
  }
  // Seeds wrap at 64 bits.
  static void get(const Napi::Value& value, const Path& at, uint64_t& out) {
    require(value.IsBigInt(), value, at, "a bigint");
    bool lossless = false;
    out = value.As<Napi::BigInt>().Uint64Value(&lossless);
  }
  static void get(const Napi::Value& value, const Path& at, bool& out) {
    require(value.IsBoolean(), value, at, "true or false");
    out = value.As<Napi::Boolean>().Value();
  }
  static void get(const Napi::Value& value, const Path& at, std::string& out) {
    require(value.IsString(), value, at, "a string");
    out = value.As<Napi::String>().Utf8Value();
  }
  // A constraint: a grammar of all that is said, or of what follows reasoning.
  static void get(const Napi::Value& value, const Path& at, std::shared_ptr<const Grammar>& out) {
    if (value.IsNull()) return;
    require(value.IsObject(), value, at, "an object");
    const auto object = value.As<Napi::Object>();
    require(object.GetPropertyNames().Length() == 2, value, at, "{ grammar, after }");
    out = to_grammar(object.Get("grammar"));
    std::optional<AwaitedReasoning> after;
    get(object.Get("after"), {.above = &at, .name = "after"}, after);
    if (after) out = std::make_shared<AfterReasoning>(std::move(out), std::move(*after));
  }
};

}  // namespace llmservice
