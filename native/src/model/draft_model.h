// A smaller model with the same tokenizer, whose tokens are drafts of the model's. It is a whole model, with
// caches and a workspace of its own; its KV lies in blocks of the same numbers as the model's.
#pragma once

#include "model/checkpoint.h"
#include "model/config.h"

namespace llmservice {

struct DraftModelSource {
  std::filesystem::path dir;
  Checkpoint checkpoint;
  ModelConfig config;
  LoadQuantization quantization;
};

// `source` outlives it. Throws InvalidEngineConfig where it cannot draft for `trunk`, as checkDraftModel() in
// checkpoint/src/weights does before anything is loaded.
DraftModelSource open_draft_model(const CheckpointSource& source, const ModelConfig& trunk);

}  // namespace llmservice
