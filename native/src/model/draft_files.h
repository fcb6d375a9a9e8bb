// Files of what drafts bear the names that the model's own bear: what fails with them says whose they are,
// and what to do where they were changed or removed while they were read.
#pragma once

#include <filesystem>

#include "ops/error.h"

namespace llmservice {

// What `read` returns, which reads a draft model in `dir`.
template <class Read>
auto reading_draft_files(const std::filesystem::path& dir, const Read& read) {
  try {
    return read();
  } catch (const RankLost&) {
    throw;
  } catch (const EngineError& error) {
    const FailureReason reason = error.reason();
    if (reason != FailureReason::kCheckpointIncomplete && reason != FailureReason::kCheckpointCorrupt) throw;
    throw EngineError(reason, "The draft model in " + dir.string() + " cannot be read: " + error.what() +
                                  " Put all of its files there, change none while the engine loads, and "
                                  "start it again; or set engine.speculative.method to ngram or none.");
  }
}

}  // namespace llmservice
