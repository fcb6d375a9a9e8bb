// The JavaScript face of an engine: { info, step(plan), withdraw(), loadAdapter(part),
// unloadAdapter(number), offerKv(offer), withdrawKv(ticket), fetchKv(fetch), fetchedKv(id), endFetch(id),
// dispose() }, load(), which makes one, and
// runRank(), which has one follow rank 0.
#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <optional>

#include "engine/engine.h"
#include "napi/engine_thread.h"

namespace llmservice {

// load(options, onProgress): Promise<Engine>.
Napi::Value load_engine(const Napi::CallbackInfo& call);
// runRank(options, onProgress): Promise<void>.
Napi::Value run_rank(const Napi::CallbackInfo& call);

class EngineObject : public Napi::ObjectWrap<EngineObject> {
 public:
  // The constructor function, kept per environment.
  static Napi::Function define(Napi::Env env);
  static Napi::Object create(Napi::Env env, std::unique_ptr<EngineThread> thread,
                             std::unique_ptr<Engine> engine);

  explicit EngineObject(const Napi::CallbackInfo& call);

 private:
  Napi::Value step(const Napi::CallbackInfo& call);
  Napi::Value withdraw(const Napi::CallbackInfo& call);
  Napi::Value load_adapter(const Napi::CallbackInfo& call);
  Napi::Value unload_adapter(const Napi::CallbackInfo& call);
  // kv_methods.cpp
  Napi::Value offer_kv(const Napi::CallbackInfo& call);
  Napi::Value withdraw_kv(const Napi::CallbackInfo& call);
  Napi::Value fetch_kv(const Napi::CallbackInfo& call);
  Napi::Value fetched_kv(const Napi::CallbackInfo& call);
  Napi::Value end_fetch(const Napi::CallbackInfo& call);
  // Runs `work` between steps; the promise resolves to undefined.
  Napi::Value run(Napi::Env env, std::function<void(Engine&)> work);
  // Or to what the function that it returns makes of it.
  using ToValue = std::function<Napi::Value(Napi::Env)>;
  Napi::Value run_for(Napi::Env env, std::function<ToValue(Engine&)> work);
  Napi::Value dispose(const Napi::CallbackInfo& call);
  void step_ended();

  std::shared_ptr<Engine> engine_;                  // used on the engine thread only
  std::unique_ptr<EngineThread> thread_;            // after engine_: stops before the engine goes
  Napi::Reference<Napi::Promise> disposal_;         // set once dispose() was called
  std::optional<Napi::Promise::Deferred> promise_;  // of the step asked for last
  int steps_ = 0;  // asked for and not settled: one that runs, one that waits
};

}  // namespace llmservice
