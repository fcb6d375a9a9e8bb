#include "model/layer_inputs.h"

#include <numbers>
#include <span>

#include "model/model.h"

namespace llmservice {
namespace {

// Of both halves that a part is the sum of: it is divided by the root of two.
constexpr float kHalf = 1 / std::numbers::sqrt2_v<float>;

}  // namespace

int64_t parts_width(const ModelConfig& c) {
  return c.layer_embeddings ? static_cast<int64_t>(c.layers.size()) * c.layer_embeddings->width : 0;
}

LayerInputs read_layer_inputs(WeightReader& reader, const ModelConfig& c, Range vocab,
                              const std::string& prefix) {
  const int64_t width = parts_width(c);
  const int64_t part = c.layer_embeddings->width;
  LayerInputs inputs;
  // Only looked up, and the widest matrix of all: no sample is multiplied with it.
  Samples* const samples = reader.samples();
  reader.sample_to(nullptr);
  inputs.table = reader.matrix({{prefix + "embed_tokens_per_layer", c.vocab, width, vocab, whole(width)}});
  reader.sample_to(samples);
  inputs.projection = reader.linear(
      {{prefix + "per_layer_model_projection", width, c.hidden, whole(width), whole(c.hidden)}}, false);
  inputs.norm = reader.vector(prefix + "per_layer_projection_norm.weight", {part}, whole(part), 0, kHalf);
  return inputs;
}

// work_.layer_inputs of the step's tokens, whose embeddings are work_.residual, and whose rows own_ids_.
void Model::embed_layers(int64_t rows) {
  if (!layer_inputs_) return;
  const int64_t width = parts_width(config_);
  const auto& [part, scale] = *config_.layer_embeddings;
  backend_.gather(*layer_inputs_->table, own_ids_, work_.layer_inputs);
  ranks_.all_reduce(work_.layer_inputs, rows * width);
  backend_.scale(work_.layer_inputs, rows * width, scale * kHalf);
  layer_inputs_->projection.apply(backend_, work_.residual, rows, work_.wide);
  // What it gives is divided by the root of `hidden` before its norm, which an epsilon times `hidden` makes
  // up for.
  backend_.rms_norm(work_.wide, layer_inputs_->norm.data(),
                    config_.norm_eps * static_cast<float>(config_.hidden),
                    rows * static_cast<int64_t>(config_.layers.size()), part, work_.wide);
  backend_.add_gated(work_.layer_inputs, work_.wide, nullptr, rows, width);
}

// work_.residual takes work_.output, which becomes what the layer's part of the embeddings adds to it.
void Model::take_layer_input(size_t layer, int64_t rows) {
  const LayerInputWeights& weights = *layers_[layer].input;
  const int64_t part = config_.layer_embeddings->width;
  backend_.add_gated(work_.residual, work_.output, nullptr, rows, config_.hidden);
  weights.gate.apply(backend_, work_.residual, rows, work_.mixed);
  const std::span<const RowCopy> all(every_row_.data(), static_cast<size_t>(rows));
  backend_.copy_rows(all, work_.mixed, part, part, work_.wide, 2 * part);
  backend_.copy_rows(all, work_.layer_inputs + static_cast<int64_t>(layer) * part, parts_width(config_), part,
                     work_.wide + part, 2 * part);
  open_gates(rows, part);
  weights.projection.apply(backend_, work_.mixed, rows, work_.output);
  backend_.rms_norm(work_.output, weights.norm.data(), config_.norm_eps, rows, config_.hidden, work_.output);
}

}  // namespace llmservice
