// The layer for multi-token prediction of a checkpoint that comes without one: taken from another release of
// the same model, in whatever format that release stores it.
#pragma once

#include "model/checkpoint.h"
#include "model/config.h"

namespace llmservice {

struct PairedHead {
  Checkpoint checkpoint;
  // The trunk's with the layer, and of this checkpoint how norms are stored.
  ModelConfig config;
  LoadQuantization quantization;
};

// `source` holds the tensors mtp.*, and outlives it. Throws
// InvalidEngineConfig where it has no such layer or is of another model than `trunk`.
PairedHead open_paired_head(const CheckpointSource& source, const ModelConfig& trunk);

}  // namespace llmservice
