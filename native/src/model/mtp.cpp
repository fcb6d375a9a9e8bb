#include "model/mtp.h"

#include <algorithm>

#include "model/model.h"

namespace llmservice {

ModelConfig with_mtp(ModelConfig config, const Checkpoint& checkpoint) {
  if (!checkpoint.has("mtp.fc.weight")) {
    throw EngineError(
        FailureReason::kInvalidEngineConfig,
        "engine.speculative.method is mtp, but the checkpoint has no tensor mtp.fc.weight: it comes "
        "without a layer for multi-token prediction. Take ngram or none, or a release that has one.");
  }
  config.mtp = true;
  config.layers.push_back(LayerKind::kAttention);
  config.feed_forward.push_back(checkpoint.has("mtp.layers.0.mlp.gate.weight") ? FeedForwardKind::kMoe
                                                                               : FeedForwardKind::kDense);
  config.windows.push_back(0);
  return config;
}

MtpWeights read_mtp(WeightReader& reader, const ModelConfig& config, Shard shard) {
  const int64_t hidden = config.hidden;
  const auto norm = [&](const char* name) {
    return reader.vector(name, {hidden}, whole(hidden), config.unit_offset_norm ? 1.0f : 0.0f);
  };
  const Range columns = shard_range(2 * hidden, shard, "the input of mtp.fc");
  return {.columns = columns,
          .fc = reader.linear({{"mtp.fc", hidden, 2 * hidden, whole(hidden), columns}}, false),
          .embedding_norm = norm("mtp.pre_fc_norm_embedding.weight"),
          .hidden_norm = norm("mtp.pre_fc_norm_hidden.weight"),
          .norm = norm("mtp.norm.weight")};
}

void Model::draft(const MtpStep& step) {
  const auto rows = static_cast<int64_t>(step.ids.size());
  const int64_t hidden = config_.hidden;
  drafted_last_ = true;
  if (eagle3_) {
    embed(eagle3_->embedding() != nullptr ? *eagle3_->embedding() : *embedding_, step.ids);
    return eagle3_->run(
        step,
        {.residual = work_.residual, .normed = work_.normed, .output = work_.output, .final = work_.final});
  }
  backend_.take_rows(step.continues ? work_.final : work_.hidden, step.hidden, hidden, work_.output);
  backend_.rms_norm(work_.output, mtp_->hidden_norm.data(), config_.norm_eps, rows, hidden, work_.normed);
  put_mtp_columns(hidden, rows);
  embed(*embedding_, step.ids);
  backend_.rms_norm(work_.residual, mtp_->embedding_norm.data(), config_.norm_eps, rows, hidden,
                    work_.normed);
  put_mtp_columns(0, rows);
  mtp_->fc.apply(backend_, work_.wide, rows, work_.residual);
  ranks_.all_reduce(work_.residual, rows * hidden);
  set_angles(step.positions);
  // What drafts are made from need not be sound: the next step's own rows decide.
  run_layer(
      config_.trunk_layers(), nullptr,
      {.ids = step.ids, .positions = step.positions, .segments = step.segments, .outputs = {}, .saves = {}},
      0);
  if (!step.outputs.empty()) {
    norm_residual(work_.output, mtp_->norm, rows, work_.normed, 0);
    backend_.take_rows(work_.normed, step.outputs, hidden, work_.final);
  }
  backend_.submit();
}

// work_.normed is columns [first, first + hidden) of the layer's input: this rank's part goes to work_.wide.
void Model::put_mtp_columns(int64_t first, int64_t rows) {
  const Range own = mtp_->columns;
  const int64_t begin = std::max(first, own.begin);
  const int64_t end = std::min(first + config_.hidden, own.begin + own.count);
  if (begin >= end) return;
  mtp_rows_.clear();
  for (int32_t i = 0; i < rows; ++i) mtp_rows_.push_back({.from = i, .to = i});
  backend_.copy_rows(mtp_rows_, work_.normed + begin - first, config_.hidden, end - begin,
                     work_.wide + begin - own.begin, own.count);
}

}  // namespace llmservice
