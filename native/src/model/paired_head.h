// The layer for multi-token prediction of a checkpoint that comes without one: taken from another release of
// the same model, in whatever format that release stores it.
#pragma once

#include <filesystem>

#include "model/checkpoint.h"
#include "model/config.h"

namespace llmservice {

struct PairedHead {
  Checkpoint checkpoint;
  // The trunk's with the layer, and of this checkpoint how matrices and norms are stored.
  ModelConfig config;
};

// `dir` holds config.json and the weight files with the tensors mtp.*, all complete. Throws
// InvalidEngineConfig where it has no such layer or is of another model than `trunk`.
PairedHead open_paired_head(const std::filesystem::path& dir, const ModelConfig& trunk);

}  // namespace llmservice
