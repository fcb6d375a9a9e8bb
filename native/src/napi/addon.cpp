// What the addon exports: load, runRank, grammarCompiler, makeSegment, dieWithParent, tryLock and cpuIsas.
// Declared in ts/binding.ts.
#include <napi.h>

#include "napi/engine_object.h"
#include "napi/file_lock.h"
#include "napi/grammars.h"
#include "napi/ranks.h"

namespace llmservice {
namespace {

Napi::Value list_isas(const Napi::CallbackInfo& call) {
  const auto isas = cpu_isas();
  auto out = Napi::Array::New(call.Env(), isas.size());
  for (uint32_t i = 0; i < isas.size(); ++i) out.Set(i, isas[i]);
  return out;
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new Napi::FunctionReference(Napi::Persistent(EngineObject::define(env))));
  exports.Set("load", Napi::Function::New(env, load_engine, "load"));
  exports.Set("runRank", Napi::Function::New(env, run_rank, "runRank"));
  exports.Set("grammarCompiler", Napi::Function::New(env, make_grammar_compiler, "grammarCompiler"));
  exports.Set("makeSegment", Napi::Function::New(env, make_shared_segment, "makeSegment"));
  exports.Set("dieWithParent", Napi::Function::New(env, die_with_parent, "dieWithParent"));
  exports.Set("tryLock", Napi::Function::New(env, try_lock, "tryLock"));
  exports.Set("cpuIsas", Napi::Function::New(env, list_isas, "cpuIsas"));
  return exports;
}

NODE_API_MODULE(llmservice_native, init)

}  // namespace
}  // namespace llmservice
