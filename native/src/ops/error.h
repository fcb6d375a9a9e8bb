// The one error type of the engine: a failure reason of the contract (crds/src/failures.ts) and a message
// that says what happened, where, and what to do.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace llmservice {

class EngineError : public std::runtime_error {
 public:
  EngineError(std::string reason, const std::string& message)
      : std::runtime_error(message), reason_(std::move(reason)) {}
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

}  // namespace llmservice
