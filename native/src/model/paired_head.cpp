#include "model/paired_head.h"

#include "model/mtp.h"

namespace llmservice {
namespace {

// What the layer shares with the trunk: its input, its heads, and the table and head of the vocabulary.
void check_same_model(const ModelConfig& head, const ModelConfig& trunk) {
  const auto same = [](const char* field, int32_t found, int32_t expected) {
    if (found == expected) return;
    throw EngineError(FailureReason::kInvalidEngineConfig,
                      std::string("engine.speculative.uri: config.json of the paired checkpoint has ") +
                          field + " " + std::to_string(found) + " where the model has " +
                          std::to_string(expected) + "; take another release of the same model.");
  };
  same("hidden_size", head.hidden, trunk.hidden);
  same("vocab_size", head.vocab, trunk.vocab);
  same("num_attention_heads", head.heads, trunk.heads);
  same("num_key_value_heads", head.kv_heads, trunk.kv_heads);
  same("head_dim", head.head_dim, trunk.head_dim);
  same("intermediate_size", head.intermediate, trunk.intermediate);
}

}  // namespace

PairedHead open_paired_head(const CheckpointSource& source, const ModelConfig& trunk) {
  check_same_model(source.config, trunk);
  Checkpoint checkpoint(source);
  ModelConfig config = with_mtp(trunk, checkpoint);
  config.unit_offset_norm = source.config.unit_offset_norm;
  return {
      .checkpoint = std::move(checkpoint), .config = std::move(config), .quantization = source.quantization};
}

}  // namespace llmservice
