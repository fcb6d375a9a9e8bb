#include "model/draft_model.h"

#include "model/draft_files.h"
#include "model/rope.h"
#include "model/stored_weight.h"

namespace llmservice {

DraftModelSource open_draft_model(const CheckpointSource& source, const ModelConfig& trunk) {
  const auto require = [](bool holds, const std::string& message) {
    if (!holds) throw EngineError(FailureReason::kInvalidEngineConfig, "engine.speculative.uri: " + message);
  };
  const ModelConfig& config = source.config;
  require(config.vocab == trunk.vocab, "config.json of the draft model has vocab_size " +
                                           std::to_string(config.vocab) + " where the model has " +
                                           std::to_string(trunk.vocab) +
                                           "; take a draft model with the same tokenizer and vocab_size.");
  require(!config.hybrid() && !config.bidirectional,
          "a draft model of " + config.architecture +
              " is not read: its layers must be causal attention, and keep no recurrent state.");
  return reading_draft_files(source.dir, [&] {
    DraftModelSource draft{.dir = source.dir,
                           .checkpoint = Checkpoint(source),
                           .config = config,
                           .quantization = source.quantization};
    check_stored_weights(draft.checkpoint);
    read_rope_divisors(draft.checkpoint, draft.config.rope);
    return draft;
  });
}

}  // namespace llmservice
