// The one error type of the engine: a failure reason of the contract (crds/src/failures.ts), a message that
// says what happened, where, and what to do, and the figures of it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace llmservice {

class EngineError : public std::runtime_error {
 public:
  using Detail = std::vector<std::pair<std::string, int64_t>>;

  EngineError(std::string reason, const std::string& message, Detail detail = {})
      : std::runtime_error(message), reason_(std::move(reason)), detail_(std::move(detail)) {}
  const std::string& reason() const { return reason_; }
  const Detail& detail() const { return detail_; }

 private:
  std::string reason_;
  Detail detail_;
};

}  // namespace llmservice
