// The one error type of the engine: a failure reason of the contract (crds/src/failures.ts), a message that
// says what happened, where, and what to do, and the figures of it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ops/failure_reason.h"

namespace llmservice {

class EngineError : public std::runtime_error {
 public:
  using Detail = std::vector<std::pair<std::string, int64_t>>;

  EngineError(FailureReason reason, const std::string& message, Detail detail = {})
      : std::runtime_error(message), reason_(reason), detail_(std::move(detail)) {}
  FailureReason reason() const { return reason_; }
  const Detail& detail() const { return detail_; }

 private:
  FailureReason reason_;
  Detail detail_;
};

// What ended another rank, in whatever this one does when it hears of it: no fault of that.
class RankLost final : public EngineError {
 public:
  using EngineError::EngineError;
};

}  // namespace llmservice
