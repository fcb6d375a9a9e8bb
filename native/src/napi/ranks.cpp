#include "napi/ranks.h"

#include <sys/prctl.h>

#include <csignal>

#include "napi/convert.h"
#include "parallel/shared_segment.h"

namespace llmservice {

Napi::Value make_shared_segment(const Napi::CallbackInfo& call) {
  const Napi::Env env = call.Env();
  if (call.Length() != 2 || !call[0].IsNumber() || !call[1].IsNumber()) {
    throw Napi::TypeError::New(env, "makeSegment(ranks, stages) takes two numbers.");
  }
  try {
    return Napi::Number::New(env, make_segment(call[0].As<Napi::Number>(), call[1].As<Napi::Number>()));
  } catch (const EngineError&) {
    throw from_exception(env, std::current_exception());
  }
}

Napi::Value group_state(const Napi::CallbackInfo& call) {
  const Napi::Env env = call.Env();
  if (call.Length() != 2 || !call[0].IsNumber() || !call[1].IsNumber()) {
    throw Napi::TypeError::New(env, "groupState(segment, ranks) takes two numbers.");
  }
  const int32_t ranks = call[1].As<Napi::Number>();
  try {
    const SharedSegment segment(call[0].As<Napi::Number>().Int32Value(), ranks);
    bool loaded = true;
    for (int32_t rank = 0; rank < ranks; ++rank) {
      loaded = loaded && segment.state().ranks[rank].doing.load() >= Doing::kWaiting;
    }
    auto out = Napi::Object::New(env);
    out.Set("waitingFor", waiting_for(segment.state()));
    const ShownText& refusal = segment.state().last_refusal;
    out.Set("refusals", refusal.writes.load());
    out.Set("lastRefusal", refusal.shown());
    out.Set("loaded", loaded);
    return out;
  } catch (const EngineError&) {
    throw from_exception(env, std::current_exception());
  }
}

Napi::Value die_with_parent(const Napi::CallbackInfo& call) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return call.Env().Undefined();
}

}  // namespace llmservice
