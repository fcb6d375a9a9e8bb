// Engine -> JavaScript.
#include "napi/convert.h"
#include "napi/js_writer.h"

namespace llmservice {
namespace {

Napi::Error error_with(Napi::Env env, const std::string& message, FailureReason reason,
                       const EngineError::Detail& figures = {}) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("reason", Napi::String::New(env, name_of(reason)));
  if (figures.empty()) return error;
  auto detail = Napi::Object::New(env);
  for (const auto& [name, value] : figures) detail.Set(name, static_cast<double>(value));
  error.Set("detail", detail);
  return error;
}

}  // namespace

Napi::Object from_info(Napi::Env env, const EngineInfo& info) { return JsWriter(env).write(info); }

Napi::Object from_result(Napi::Env env, const StepResult& result) { return JsWriter(env).write(result); }

Napi::Object from_fetch_state(Napi::Env env, const FetchState& state) { return JsWriter(env).write(state); }

Napi::Error from_exception(Napi::Env env, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const EngineError& e) {
    return error_with(env, e.what(), e.reason(), e.detail());
  } catch (const std::bad_alloc&) {
    return error_with(env, "The engine ran out of memory.", FailureReason::kOutOfMemory);
  } catch (const std::exception& e) {
    return error_with(env, std::string("The engine failed: ") + e.what(), FailureReason::kEngineFault);
  }
}

}  // namespace llmservice
