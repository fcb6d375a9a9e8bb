// What the addon exports: load, runRank, grammarCompiler, makeMemoryFile, makeSegment, groupState,
// dieWithParent, denyTracing, keepDescriptors, tryLock, cpuIsas and gpuDevices. Declared in ts/bridge/.
#include <napi.h>

#include "backends/gpu_loader.h"
#include "napi/engine_object.h"
#include "napi/file_lock.h"
#include "napi/grammars.h"
#include "napi/isolation.h"
#include "napi/ranks.h"

namespace llmservice {
namespace {

Napi::Value list_isas(const Napi::CallbackInfo& call) {
  const auto isas = cpu_isas();
  auto out = Napi::Array::New(call.Env(), isas.size());
  for (uint32_t i = 0; i < isas.size(); ++i) out.Set(i, isas[i]);
  return out;
}

// (vendor): { devices, problem }.
Napi::Value list_gpus(const Napi::CallbackInfo& call) {
  const Napi::Env env = call.Env();
  if (call.Length() != 1 || !call[0].IsString()) {
    throw Napi::TypeError::New(env, "gpuDevices(vendor) takes a string.");
  }
  const gpu::DeviceList list = gpu_devices(call[0].As<Napi::String>());
  auto devices = Napi::Array::New(env, list.devices.size());
  for (uint32_t i = 0; i < list.devices.size(); ++i) {
    const gpu::DeviceFacts& facts = list.devices[i];
    auto device = Napi::Object::New(env);
    device.Set("name", facts.name);
    device.Set("architecture", facts.architecture);
    device.Set("pciAddress", facts.pci_address);
    device.Set("memoryBytes", static_cast<double>(facts.memory_bytes));
    device.Set("multiprocessors", facts.multiprocessors);
    devices.Set(i, device);
  }
  auto out = Napi::Object::New(env);
  out.Set("devices", devices);
  out.Set("problem", list.problem.empty() ? env.Null() : Napi::Value(Napi::String::New(env, list.problem)));
  return out;
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new Napi::FunctionReference(Napi::Persistent(EngineObject::define(env))));
  exports.Set("load", Napi::Function::New(env, load_engine, "load"));
  exports.Set("runRank", Napi::Function::New(env, run_rank, "runRank"));
  exports.Set("grammarCompiler", Napi::Function::New(env, make_grammar_compiler, "grammarCompiler"));
  exports.Set("makeMemoryFile", Napi::Function::New(env, make_memory_file_value, "makeMemoryFile"));
  exports.Set("makeSegment", Napi::Function::New(env, make_shared_segment, "makeSegment"));
  exports.Set("groupState", Napi::Function::New(env, group_state, "groupState"));
  exports.Set("dieWithParent", Napi::Function::New(env, die_with_parent, "dieWithParent"));
  exports.Set("denyTracing", Napi::Function::New(env, deny_tracing, "denyTracing"));
  exports.Set("keepDescriptors", Napi::Function::New(env, keep_descriptors, "keepDescriptors"));
  exports.Set("tryLock", Napi::Function::New(env, try_lock, "tryLock"));
  exports.Set("cpuIsas", Napi::Function::New(env, list_isas, "cpuIsas"));
  exports.Set("gpuDevices", Napi::Function::New(env, list_gpus, "gpuDevices"));
  return exports;
}

NODE_API_MODULE(llmservice_native, init)

}  // namespace
}  // namespace llmservice
