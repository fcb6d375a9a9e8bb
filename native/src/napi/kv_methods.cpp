// Engine's methods of KV that goes to other engines and comes from them.
#include "napi/convert.h"
#include "napi/engine_object.h"

namespace llmservice {
namespace {

Napi::Value reject(const Napi::Error& error) {
  const auto deferred = Napi::Promise::Deferred::New(error.Env());
  deferred.Reject(error.Value());
  return deferred.Promise();
}

const Napi::Value& argument(const Napi::CallbackInfo& call, const Napi::Value& given, bool fits,
                            const char* what) {
  if (call.Length() != 1 || !fits) throw Napi::TypeError::New(call.Env(), what);
  return given;
}

int32_t fetch_id(const Napi::CallbackInfo& call, const char* what) {
  return argument(call, call[0], call[0].IsNumber(), what).As<Napi::Number>();
}

}  // namespace

Napi::Value EngineObject::offer_kv(const Napi::CallbackInfo& call) {
  try {
    return run(call.Env(), [offer = to_kv_offer(call[0])](Engine& engine) { engine.offer_kv(offer); });
  } catch (const Napi::Error& error) {
    return reject(error);
  }
}

Napi::Value EngineObject::withdraw_kv(const Napi::CallbackInfo& call) {
  try {
    const Napi::String ticket =
        argument(call, call[0], call[0].IsString(), "withdrawKv(ticket) takes a string.").As<Napi::String>();
    return run(call.Env(), [ticket = ticket.Utf8Value()](Engine& engine) { engine.withdraw_kv(ticket); });
  } catch (const Napi::Error& error) {
    return reject(error);
  }
}

Napi::Value EngineObject::fetch_kv(const Napi::CallbackInfo& call) {
  try {
    return run(call.Env(), [fetch = to_kv_fetch(call[0])](Engine& engine) { engine.fetch_kv(fetch); });
  } catch (const Napi::Error& error) {
    return reject(error);
  }
}

Napi::Value EngineObject::fetched_kv(const Napi::CallbackInfo& call) {
  try {
    const int32_t id = fetch_id(call, "fetchedKv(id) takes a number.");
    return run_for(call.Env(), [id](Engine& engine) -> ToValue {
      return [state = engine.fetched_kv(id)](Napi::Env env) { return from_fetch_state(env, state); };
    });
  } catch (const Napi::Error& error) {
    return reject(error);
  }
}

Napi::Value EngineObject::end_fetch(const Napi::CallbackInfo& call) {
  try {
    const int32_t id = fetch_id(call, "endFetch(id) takes a number.");
    return run(call.Env(), [id](Engine& engine) { engine.end_fetch(id); });
  } catch (const Napi::Error& error) {
    return reject(error);
  }
}

}  // namespace llmservice
