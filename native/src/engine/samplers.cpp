#include "engine/samplers.h"

namespace llmservice {

void Samplers::run(int64_t jobs, const std::function<void(int64_t, Sampler&)>& body) {
  errors_.assign(static_cast<size_t>(jobs), nullptr);
  backend_.run_on_host(jobs, [&](int64_t job, int worker) {
    try {
      if (!samplers_[worker]) samplers_[worker] = std::make_unique<Sampler>(vocab_);
      body(job, *samplers_[worker]);
    } catch (...) {
      errors_[job] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors_) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace llmservice
