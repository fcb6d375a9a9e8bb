// Embeddings of layers: a second embedding of each token, of which each layer adds its own part to the
// residual stream, behind its feed-forward (Gemma 4 E2B and E4B).
#pragma once

#include <memory>
#include <string>

#include "model/config.h"
#include "model/weights.h"

namespace llmservice {

// What the parts of all layers are made of.
struct LayerInputs {
  std::unique_ptr<Matrix> table;  // (this rank's part of vocab, layers · width)
  Linear projection;              // (layers · width, hidden), of the embedding; whole on each rank
  DeviceVector norm;              // (width), of each part that it gives

  size_t bytes() const { return table->bytes + projection.bytes() + norm.bytes(); }
};

// Features of the parts of all layers; 0: there are none.
int64_t parts_width(const ModelConfig& config);

// `prefix` is that of the model, `vocab` this rank's part.
LayerInputs read_layer_inputs(WeightReader& reader, const ModelConfig& config, Range vocab,
                              const std::string& prefix);

}  // namespace llmservice
