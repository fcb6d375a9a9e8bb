#include "napi/engine_thread.h"

#include <algorithm>
#include <iterator>

namespace llmservice {

void call_settle(Napi::Env env, Napi::Function, std::nullptr_t*, Settle* settle) {
  // No environment: the process is ending, and nobody waits for the result.
  if (static_cast<napi_env>(env) != nullptr) (*settle)(env);
  delete settle;
}

EngineThread::EngineThread(Napi::Env env)
    : env_(env), dispatcher_(Dispatcher::New(env, "llmservice engine", 0, 1)), thread_([this] { loop(); }) {
  dispatcher_.Unref(env_);
  // Registered after the dispatcher, so that at exit the thread ends before its way back closes.
  napi_add_env_cleanup_hook(env_, at_exit, this);
}

EngineThread::~EngineThread() {
  stop();
  napi_remove_env_cleanup_hook(env_, at_exit, this);
  dispatcher_.Release();
}

void EngineThread::queue(Job job) {
  if (pending_++ == 0) dispatcher_.Ref(env_);
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

bool EngineThread::withdraw() {
  {
    const std::lock_guard lock(mutex_);
    const auto last = std::find_if(jobs_.rbegin(), jobs_.rend(), [](const Job& job) { return job.step; });
    if (last == jobs_.rend()) return false;
    jobs_.erase(std::next(last).base());
  }
  finished(env_);
  return true;
}

void EngineThread::post(Settle settle) {
  auto* data = new Settle(std::move(settle));
  if (dispatcher_.BlockingCall(data) != napi_ok) delete data;
}

void EngineThread::stop() {
  cancelled_ = true;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    jobs_.clear();
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void EngineThread::loop() {
  for (;;) {
    std::function<Settle()> job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front().run);
      jobs_.pop_front();
    }
    post([this, settle = job()](Napi::Env env) {
      finished(env);
      settle(env);  // last: it may free this thread
    });
  }
}

void EngineThread::finished(Napi::Env env) {
  if (--pending_ == 0) dispatcher_.Unref(env);
}

}  // namespace llmservice
