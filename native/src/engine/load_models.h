// From an engine's options to models in memory, on all ranks at once: the model that answers, with what
// drafts for it.
#pragma once

#include "engine/engine_options.h"

namespace llmservice {

struct LoadedModels {
  std::unique_ptr<Model> model;
  std::unique_ptr<Model> draft_model;        // of method draft_model; null: none
  std::optional<double> self_check_ms = {};  // that Model::check() took; none: it was off

  size_t weight_bytes() const;
  size_t workspace_bytes() const;
  // Of all of them: blocks have the same numbers in each.
  int64_t kv_bytes_per_block() const;
};

// Null: the only rank.
std::unique_ptr<RankGroup> join_group(const EngineOptions& options);
// Null: the only rank.
Collective* connect(const EngineOptions& options, Backend& backend, RankGroup* group);
// Returns when all ranks have loaded. Throws EngineError with a reason of the contract.
LoadedModels load_models(const EngineOptions& options, Backend& backend, RankGroup* group, Collective* ranks,
                         const ModelProgress& on_progress);

}  // namespace llmservice
