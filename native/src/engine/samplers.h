// A sampler for each thread of the backend, so that rows of different sequences are drawn at once. Which
// thread draws a row never shows in what is drawn.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "engine/sampler.h"
#include "ops/ops.h"

namespace llmservice {

class Samplers {
 public:
  Samplers(Backend& backend, int32_t vocab)
      : backend_(backend), vocab_(vocab), samplers_(static_cast<size_t>(backend.threads())) {}

  // body(job, sampler) for every job in [0, jobs), several at once; throws what the first of them threw.
  void run(int64_t jobs, const std::function<void(int64_t, Sampler&)>& body);

 private:
  Backend& backend_;
  int32_t vocab_;
  std::vector<std::unique_ptr<Sampler>> samplers_;  // made when their thread first draws
  std::vector<std::exception_ptr> errors_;          // of each job
};

}  // namespace llmservice
