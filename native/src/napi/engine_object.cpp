#include "napi/engine_object.h"

#include <chrono>

#include "backends/gpu_loader.h"
#include "napi/convert.h"

namespace llmservice {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kProgressInterval = std::chrono::milliseconds(100);

// What EngineObject's constructor is handed through JavaScript.
struct Parts {
  std::unique_ptr<EngineThread> thread;
  std::unique_ptr<Engine> engine;
};

// A load under way; lives on the JavaScript thread until its promise is settled.
struct Loading {
  Napi::Promise::Deferred deferred;
  Napi::FunctionReference on_progress;
  std::unique_ptr<EngineThread> thread;
};

// Reports to JavaScript about ten times a second, and at the end.
ModelProgress report_to(Loading* loading) {
  return [loading, next = Clock::now()](uint64_t done, uint64_t total) mutable {
    if (loading->thread->cancelled())
      throw EngineError(FailureReason::kEngineFault, "The load was cancelled.");
    if (Clock::now() < next && done < total) return;
    next = Clock::now() + kProgressInterval;
    loading->thread->post([loading, done, total](Napi::Env env) {
      loading->on_progress.Call({Napi::Number::New(env, static_cast<double>(done)),
                                 Napi::Number::New(env, static_cast<double>(total))});
    });
  };
}

// A pod that asks for a GPU gets it or fails: nothing falls back to the CPU.
std::unique_ptr<Backend> make_backend(const EngineOptions& options) {
  const NodeRanks here = options.place ? ranks_here(*options.place) : NodeRanks{0, 1};
  const int32_t rank = options.place ? options.place->rank - here.first : 0;
  if (is_gpu(options.device)) return make_gpu_backend(options.device, rank);
  CpuOptions cpu{.threads = options.threads, .isa = options.isa.c_str()};
  if (options.place) {
    cpu.rank = rank;
    cpu.ranks = here.end - here.first;
  }
  return make_cpu_backend(cpu);
}

std::unique_ptr<Engine> load(Loading* loading, const EngineOptions& options) {
  return std::make_unique<Engine>(options, make_backend(options), report_to(loading));
}

Settle reject(Loading* loading) {
  return [loading, error = std::current_exception()](Napi::Env env) {
    const std::unique_ptr<Loading> ended(loading);
    ended->deferred.Reject(from_exception(env, error).Value());
  };
}

Settle load_job(Loading* loading, const EngineOptions& options) {
  try {
    auto engine = std::make_shared<std::unique_ptr<Engine>>(load(loading, options));
    return [loading, engine](Napi::Env env) {
      const std::unique_ptr<Loading> ended(loading);
      ended->deferred.Resolve(EngineObject::create(env, std::move(ended->thread), std::move(*engine)));
    };
  } catch (...) {
    return reject(loading);
  }
}

// Loads, follows rank 0 and frees everything: all on the engine thread.
Settle rank_job(Loading* loading, const EngineOptions& options) {
  try {
    load(loading, options)->follow();
    return [loading](Napi::Env env) {
      const std::unique_ptr<Loading> ended(loading);
      ended->deferred.Resolve(env.Undefined());
    };
  } catch (...) {
    return reject(loading);
  }
}

// One that runs and one that begins when it ends.
constexpr int kStepsAtOnce = 2;

Napi::Error fault(Napi::Env env, const char* message) {
  return from_exception(env, std::make_exception_ptr(EngineError(FailureReason::kEngineFault, message)));
}

Napi::Value rejected(Napi::Env env, const Napi::Error& error) {
  const auto deferred = Napi::Promise::Deferred::New(env);
  deferred.Reject(error.Value());
  return deferred.Promise();
}

}  // namespace

namespace {

using Job = Settle (*)(Loading* loading, const EngineOptions& options);

Napi::Value start(const Napi::CallbackInfo& call, Job job) {
  const Napi::Env env = call.Env();
  try {
    if (call.Length() != 3 || !call[2].IsFunction()) {
      throw Napi::TypeError::New(env, "load and runRank take options, arrivals or null, and a function.");
    }
    EngineOptions options = to_engine_options(call[0]);
    if (!call[1].IsNull()) options.arrivals = to_arrival_map(call[1]);
    auto* loading = new Loading{.deferred = Napi::Promise::Deferred::New(env),
                                .on_progress = Napi::Persistent(call[2].As<Napi::Function>()),
                                .thread = std::make_unique<EngineThread>(env)};
    const Napi::Promise promise = loading->deferred.Promise();
    loading->thread->run([loading, options, job] { return job(loading, options); });
    return promise;
  } catch (const Napi::Error& error) {
    return rejected(env, error);
  }
}

}  // namespace

Napi::Value load_engine(const Napi::CallbackInfo& call) { return start(call, load_job); }

Napi::Value run_rank(const Napi::CallbackInfo& call) { return start(call, rank_job); }

Napi::Function EngineObject::define(Napi::Env env) {
  return DefineClass(
      env, "Engine",
      {InstanceMethod<&EngineObject::step>("step"), InstanceMethod<&EngineObject::withdraw>("withdraw"),
       InstanceMethod<&EngineObject::load_adapter>("loadAdapter"),
       InstanceMethod<&EngineObject::unload_adapter>("unloadAdapter"),
       InstanceMethod<&EngineObject::offer_kv>("offerKv"),
       InstanceMethod<&EngineObject::withdraw_kv>("withdrawKv"),
       InstanceMethod<&EngineObject::fetch_kv>("fetchKv"),
       InstanceMethod<&EngineObject::fetched_kv>("fetchedKv"),
       InstanceMethod<&EngineObject::end_fetch>("endFetch"),
       InstanceMethod<&EngineObject::dispose>("dispose")});
}

Napi::Object EngineObject::create(Napi::Env env, std::unique_ptr<EngineThread> thread,
                                  std::unique_ptr<Engine> engine) {
  const Napi::Object info = from_info(env, engine->info());
  Parts parts{std::move(thread), std::move(engine)};
  const auto* constructor = env.GetInstanceData<Napi::FunctionReference>();
  Napi::Object object = constructor->New({Napi::External<Parts>::New(env, &parts)});
  object.Set("info", info);
  return object;
}

EngineObject::EngineObject(const Napi::CallbackInfo& call) : Napi::ObjectWrap<EngineObject>(call) {
  if (call.Length() != 1 || !call[0].IsExternal()) {
    throw Napi::TypeError::New(call.Env(), "An Engine is made by load(), not by new.");
  }
  auto* parts = call[0].As<Napi::External<Parts>>().Data();
  engine_ = std::move(parts->engine);
  thread_ = std::move(parts->thread);
}

Napi::Value EngineObject::step(const Napi::CallbackInfo& call) {
  const Napi::Env env = call.Env();
  try {
    if (call.Length() != 1 || !call[0].IsObject())
      throw Napi::TypeError::New(env, "step(plan) takes a plan.");
    if (!disposal_.IsEmpty())
      return rejected(env, fault(env, "step() was called on an engine that is disposed."));
    if (steps_ == kStepsAtOnce)
      return rejected(env, fault(env, "step() was called while one step runs and another waits."));
    auto plan = std::make_shared<StepPlan>(to_step_plan(call[0].As<Napi::Object>()));
    const auto deferred = Napi::Promise::Deferred::New(env);
    promise_ = deferred;
    ++steps_;
    Ref();  // the wrapper stays while its step is under way
    thread_->run_step([this, engine = engine_, plan, deferred]() -> Settle {
      try {
        auto result = std::make_shared<StepResult>(engine->step(*plan));
        return [this, result, deferred](Napi::Env env) {
          deferred.Resolve(from_result(env, *result));
          step_ended();
        };
      } catch (...) {
        return [this, error = std::current_exception(), deferred](Napi::Env env) {
          deferred.Reject(from_exception(env, error).Value());
          step_ended();
        };
      }
    });
    return deferred.Promise();
  } catch (const Napi::Error& error) {
    return rejected(env, error);
  }
}

void EngineObject::step_ended() {
  --steps_;
  Unref();
}

Napi::Value EngineObject::withdraw(const Napi::CallbackInfo& call) {
  const Napi::Env env = call.Env();
  // Behind a disposal nothing else is queued, and that is no step.
  const bool withdrawn = disposal_.IsEmpty() && thread_->withdraw();
  if (withdrawn) {
    promise_->Reject(fault(env, "The step was withdrawn before it began.").Value());
    step_ended();
  }
  return Napi::Boolean::New(env, withdrawn);
}

Napi::Value EngineObject::load_adapter(const Napi::CallbackInfo& call) {
  try {
    if (call.Length() != 1) throw Napi::TypeError::New(call.Env(), "loadAdapter(part) takes a part.");
    return run(call.Env(), [part = to_adapter_part(call[0])](Engine& engine) { engine.load_adapter(part); });
  } catch (const Napi::Error& error) {
    return rejected(call.Env(), error);
  }
}

Napi::Value EngineObject::unload_adapter(const Napi::CallbackInfo& call) {
  if (call.Length() != 1 || !call[0].IsNumber()) {
    return rejected(call.Env(), Napi::TypeError::New(call.Env(), "unloadAdapter(number) takes a number."));
  }
  const int32_t number = call[0].As<Napi::Number>();
  return run(call.Env(), [number](Engine& engine) { engine.unload_adapter(number); });
}

Napi::Value EngineObject::run(Napi::Env env, std::function<void(Engine&)> work) {
  return run_for(env, [work = std::move(work)](Engine& engine) -> ToValue {
    work(engine);
    return [](Napi::Env env) { return env.Undefined(); };
  });
}

Napi::Value EngineObject::run_for(Napi::Env env, std::function<ToValue(Engine&)> work) {
  if (!disposal_.IsEmpty()) return rejected(env, fault(env, "The engine is disposed."));
  const auto deferred = Napi::Promise::Deferred::New(env);
  Ref();
  thread_->run([this, engine = engine_, work = std::move(work), deferred]() -> Settle {
    try {
      return [this, value = work(*engine), deferred](Napi::Env env) {
        deferred.Resolve(value(env));
        Unref();
      };
    } catch (...) {
      return [this, error = std::current_exception(), deferred](Napi::Env env) {
        deferred.Reject(from_exception(env, error).Value());
        Unref();
      };
    }
  });
  return deferred.Promise();
}

Napi::Value EngineObject::dispose(const Napi::CallbackInfo& call) {
  const Napi::Env env = call.Env();
  if (!disposal_.IsEmpty()) return disposal_.Value();
  const auto deferred = Napi::Promise::Deferred::New(env);
  disposal_ = Napi::Persistent(deferred.Promise());
  Ref();
  // Queued behind the steps already asked for; the memory is freed on the engine thread.
  thread_->run([this, engine = std::exchange(engine_, nullptr), deferred]() mutable -> Settle {
    engine.reset();
    return [this, deferred](Napi::Env env) {
      thread_.reset();
      deferred.Resolve(env.Undefined());
      Unref();
    };
  });
  return deferred.Promise();
}

}  // namespace llmservice
