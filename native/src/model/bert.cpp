// What is other in the forward pass of a model that is built as BERT. The residual stream is normed behind
// each sum, so that work_.normed is always the same as it.
#include "model/bert.h"

#include "model/model.h"

namespace llmservice {

BertInputs read_bert_inputs(WeightReader& reader, Backend& backend, const ModelConfig& config,
                            int32_t max_tokens, const std::string& prefix) {
  const int64_t hidden = config.hidden;
  reader.sample_to(nullptr);
  const auto table = [&](const char* name, int64_t rows) {
    return reader.matrix({{prefix + name, rows, hidden, whole(rows), whole(hidden)}});
  };
  BertInputs inputs{.positions = table("embed_positions", config.bert->positions),
                    .types = table("embed_types", config.bert->types),
                    .norm_bias = reader.vector(prefix + "embed_norm.bias", {hidden}, whole(hidden)),
                    .ones = {backend, std::vector<float>(config.intermediate, 1)},
                    .every_row = {},
                    .first_row = {},
                    .position_ids = {},
                    .type_ids = std::vector<int32_t>(max_tokens, 0)};
  for (int32_t i = 0; i < max_tokens; ++i) {
    inputs.every_row.push_back({i, i});
    inputs.first_row.push_back({0, i});
  }
  inputs.position_ids.reserve(max_tokens);
  return inputs;
}

void Model::embed_positions(std::span<const int32_t> positions) {
  const auto rows = static_cast<int64_t>(positions.size());
  const auto add = [&](const Matrix& table, std::span<const int32_t> ids) {
    backend_.gather(table, ids, work_.output);
    backend_.add_gated(work_.residual, work_.output, nullptr, rows, config_.hidden);
  };
  bert_->position_ids.clear();
  for (const int32_t position : positions) {
    bert_->position_ids.push_back(position + config_.bert->first_position);
  }
  add(*bert_->types, std::span(bert_->type_ids).first(positions.size()));
  add(*bert_->positions, bert_->position_ids);
}

void Model::run_bert_layer(size_t index, const ModelStep& step, int32_t place) {
  const LayerWeights& layer = layers_[index];
  const auto rows = static_cast<int64_t>(step.ids.size());
  std::visit([&](const auto& weights) { mix(weights, index, step); }, layer.mixer);
  norm_behind(layer.post_norm, layer.post_norm_bias, rows, place == 0 ? 0 : place + 2);
  feed_forward(index, step);
  norm_behind(layer.fed_norm, layer.fed_norm_bias, rows, place == 0 ? 0 : place + 4);
}

// residual = normed = the norm of residual + all ranks' work_.output.
void Model::norm_behind(const DeviceVector& weight, const DeviceVector& bias, int64_t rows, int32_t place) {
  const bool looks = place != 0 && shard_.rank == 0;
  const FaultMarks marks{.first = looks ? work_.faults : nullptr, .place = place};
  ranks_.all_reduce(work_.output, rows * config_.hidden);
  backend_.add_layer_norm(work_.residual, work_.output, weight.data(), config_.norm_eps, rows, config_.hidden,
                          work_.normed, marks);
  backend_.add_layer_norm(work_.residual, nullptr, weight.data(), config_.norm_eps, rows, config_.hidden,
                          work_.residual, {});
  for (float* const out : {work_.normed, work_.residual}) {
    backend_.add_bias(out, bias.data(), rows, config_.hidden);
  }
}

// A gate that multiplies ones.
void Model::feed_ungated(const MlpWeights& weights, int64_t rows) {
  const int64_t width = weights.gate_up.width();
  const auto first = [&](const std::vector<RowCopy>& all) { return std::span(all).first(rows); };
  weights.gate_up.apply(backend_, work_.normed, rows, work_.mixed);
  backend_.copy_rows(first(bert_->every_row), work_.mixed, width, width, work_.wide, 2 * width);
  backend_.copy_rows(first(bert_->first_row), bert_->ones.data(), width, width, work_.wide + width,
                     2 * width);
  open_gates(rows, width);
  weights.down.apply(backend_, work_.mixed, rows, work_.output);
}

}  // namespace llmservice
