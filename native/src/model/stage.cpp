#include "model/stage.h"

#include "ops/collective.h"

namespace llmservice {

Range stage_layers(int64_t layers, Stage stage) {
  const int64_t begin = first_column(layers, stage.index, stage.count);
  return {begin, first_column(layers, stage.index + 1, stage.count) - begin};
}

void check_stages(const ModelConfig& whole, int32_t stages) {
  if (stages == 1) return;
  const auto refuse = [&](const std::string& what) {
    throw EngineError(FailureReason::kParallelismInvalid, std::to_string(stages) + " stages cannot divide " +
                                                              whole.architecture + ": " + what + ".");
  };
  const auto layers = static_cast<int32_t>(whole.trunk_layers());
  if (stages > layers) refuse("it has " + std::to_string(layers) + " layers");
  if (whole.mtp) refuse("its layer for multi-token prediction is one of no stage");
  if (whole.bidirectional || whole.bert || whole.embedding_norm) refuse("it is an encoder");
  if (whole.shared_kv) refuse("layers read the keys and values of layers of another stage");
  if (whole.layer_embeddings) refuse("each layer has an embedding of its own");
}

ModelConfig stage_config(const ModelConfig& whole, Stage stage) {
  if (stage.count == 1) return whole;
  check_stages(whole, stage.count);
  const Range own = stage_layers(static_cast<int64_t>(whole.layers.size()), stage);
  const auto part = [&](const auto& all) {
    return std::decay_t<decltype(all)>(all.begin() + own.begin, all.begin() + own.begin + own.count);
  };
  ModelConfig config = whole;
  config.layers = part(whole.layers);
  config.feed_forward = part(whole.feed_forward);
  config.windows = part(whole.windows);
  return config;
}

}  // namespace llmservice
