// Which layers a stage of a pipeline has. Pure. The first stage has the embedding and the head too: what the
// last one leaves of a step's rows comes back to it, where tokens are sampled.
#pragma once

#include "model/config.h"
#include "model/shard.h"

namespace llmservice {

// Stage `index` of `count`.
struct Stage {
  int32_t index = 0;
  int32_t count = 1;

  bool first() const { return index == 0; }
  bool last() const { return index + 1 == count; }
};

// Of all layers: parts that differ by one at most, later ones have more. Mirrored by
// checkpoint/src/weights/stages.ts.
Range stage_layers(int64_t layers, Stage stage);

// Throws ParallelismInvalid, naming what the model has that stages cannot divide.
void check_stages(const ModelConfig& whole, int32_t stages);

// The config of the stage's layers alone.
ModelConfig stage_config(const ModelConfig& whole, Stage stage);

}  // namespace llmservice
