// Multi-token prediction: one more attention layer, which guesses the token after next. Its entry for
// position p is made from the token at p and the trunk's final hidden of p - 1, so that what it caches for a
// block depends on that block and those before it only; position 0 has no entry. Embedding and head are the
// trunk's.
#pragma once

#include <span>

#include "model/layers.h"

namespace llmservice {

// In addition to the decoder layer, which is the last of the model's layers.
struct MtpWeights {
  Range columns;  // of [embedding | hidden] that this rank multiplies
  Linear fc;      // (hidden, columns)
  DeviceVector embedding_norm;
  DeviceVector hidden_norm;
  DeviceVector norm;

  size_t bytes() const { return fc.bytes() + embedding_norm.bytes() + hidden_norm.bytes() + norm.bytes(); }
};

// The config with the layer. Throws InvalidEngineConfig when the checkpoint does not hold it.
ModelConfig with_mtp(ModelConfig config, const Checkpoint& checkpoint);
MtpWeights read_mtp(WeightReader& reader, const ModelConfig& config, Shard shard);

// Rows to run through the layer.
struct MtpStep {
  std::span<const int32_t> ids;        // (R)
  std::span<const int32_t> positions;  // (R) of these tokens
  std::span<const Segment> segments;
  // (R) where the hidden of the position before lies: a row of the last forward(), or, when they continue
  // `drafts`, an output row of the last draft(); kNoRow: it is not known, zeros.
  std::span<const int32_t> hidden;
  bool continues;
  std::span<const int32_t> outputs;  // rows whose logits are wanted
};

}  // namespace llmservice
