// JavaScript values <-> the engine's types, as ts/bridge/ declares them.
#pragma once

#include <napi.h>

#include <exception>

#include "engine/engine.h"

namespace llmservice {

// These throw Napi::TypeError naming the field that is not what the declaration says.
EngineOptions to_engine_options(const Napi::Value& value);
ArrivalMap to_arrival_map(const Napi::Value& value);
StepPlan to_step_plan(const Napi::Value& value);
AdapterPart to_adapter_part(const Napi::Value& value);
KvOffer to_kv_offer(const Napi::Value& value);
KvFetch to_kv_fetch(const Napi::Value& value);

Napi::Object from_info(Napi::Env env, const EngineInfo& info);
Napi::Object from_result(Napi::Env env, const StepResult& result);
Napi::Object from_fetch_state(Napi::Env env, const FetchState& state);
// An Error whose `reason` is a failure reason of the contract, with its figures in `detail` if it has any.
Napi::Error from_exception(Napi::Env env, const std::exception_ptr& error);

}  // namespace llmservice
