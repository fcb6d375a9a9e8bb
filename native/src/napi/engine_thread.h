// The one thread of an Engine: runs jobs in order, hands their results back to the JavaScript thread.
#pragma once

#include <napi.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace llmservice {

// Runs on the JavaScript thread.
using Settle = std::function<void(Napi::Env)>;
void call_settle(Napi::Env env, Napi::Function, std::nullptr_t*, Settle* settle);

class EngineThread {
 public:
  explicit EngineThread(Napi::Env env);
  ~EngineThread();  // stop()
  EngineThread(const EngineThread&) = delete;
  EngineThread& operator=(const EngineThread&) = delete;

  // Queues a job; while one is under way the process stays alive. JavaScript thread only. The job's return
  // value runs on the JavaScript thread.
  void run(std::function<Settle()> job) { queue({std::move(job), false}); }
  // The same of a job that can be withdrawn.
  void run_step(std::function<Settle()> step) { queue({std::move(step), true}); }
  // Takes back the step queued last, unless it has begun; false when there is none. JavaScript thread only.
  bool withdraw();
  // Has `settle` run on the JavaScript thread without waiting for it. Any thread.
  void post(Settle settle);
  // Drops queued jobs, asks the running one to give up (see cancelled()), and waits for the thread.
  // Idempotent.
  void stop();
  bool cancelled() const { return cancelled_; }

 private:
  using Dispatcher = Napi::TypedThreadSafeFunction<std::nullptr_t, Settle, call_settle>;
  static void at_exit(void* self) { static_cast<EngineThread*>(self)->stop(); }
  struct Job {
    std::function<Settle()> run;
    bool step;
  };
  void queue(Job job);
  void loop();
  void finished(Napi::Env env);

  Napi::Env env_;
  Dispatcher dispatcher_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::atomic<bool> cancelled_ = false;
  int pending_ = 0;  // JavaScript thread only
  std::thread thread_;
};

}  // namespace llmservice
