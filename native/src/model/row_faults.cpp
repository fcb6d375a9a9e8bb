#include "model/row_faults.h"

#include "model/model.h"

namespace llmservice {

FaultPlace fault_place(int32_t fault, const ModelConfig& config) {
  if (fault == fault_before(0)) return {.layer = std::nullopt, .part = "embedding"};
  if (fault > fault_before(config.trunk_layers())) return after_layers();
  const int32_t layer = (fault - 2) / 4;
  switch ((fault - 2) % 4) {
    case 0:
      return {.layer = layer, .part = "input norm"};
    case 1:
      return {.layer = layer,
              .part = config.layers[layer] == LayerKind::kGdn ? "Gated DeltaNet" : "attention"};
    case 2:
      return {.layer = layer, .part = "post-attention norm"};
    default:
      return {.layer = layer,
              .part = config.feed_forward[layer] == FeedForwardKind::kMoe ? "experts" : "feed-forward"};
  }
}

FaultPlace after_layers() { return {.layer = std::nullopt, .part = "final norm and head"}; }

// The sums of all ranks are on each of them, so that one rank sees the faults of all.
void Model::forget_faults(int64_t rows) {
  step_rows_ = rows;
  if (shard_.rank != 0) return;
  backend_.upload(std::as_bytes(std::span(no_faults_).first(rows)), work_.faults);
}

}  // namespace llmservice
