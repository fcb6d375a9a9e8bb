// The forward pass: which operations run on what, in which order. Shapes are in model.h.
#include "model/model.h"

namespace llmservice {

void Model::reset_slots(std::span<const int32_t> slots) {
  if (!config_.hybrid() || slots.empty()) return;
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (config_.layers[i] == LayerKind::kGdn) {
      backend_.gdn_reset(gdn_shape(*config_.gdn), slots, caches_.gdn(i));
    }
  }
}

void Model::copy_states(std::span<const StateCopy> copies) {
  if (copies.empty()) return;
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (config_.layers[i] == LayerKind::kGdn) {
      backend_.gdn_copy(gdn_shape(*config_.gdn), copies, caches_.gdn(i));
    }
  }
}

std::vector<CacheLine> Model::block_lines() const {
  std::vector<CacheLine> lines = caches_.block_lines();
  if (eagle3_) lines.insert(lines.end(), eagle3_->block_lines().begin(), eagle3_->block_lines().end());
  return lines;
}

void Model::forward(const ModelStep& step) {
  drafted_last_ = false;
  forget_faults(std::ssize(step.ids));
  if (stages_ != nullptr) return forward_in_stages(step);
  plan_states(step);
  enter(step);
  leave(run_layers(step), step, 0);
  backend_.submit();
}

void Model::plan_states(const ModelStep& step) {
  if (!config_.hybrid()) return;
  rounds_ = state_rounds(step.segments, step.saves);
  plan_draft_states(step);
}

void Model::enter(const ModelStep& step) {
  const auto rows = static_cast<int64_t>(step.ids.size());
  embed(*embedding_, step.ids);
  if (bert_) embed_positions(step.positions);
  norm_embeddings(rows);
  embed_layers(rows);
}

float* Model::run_layers(const ModelStep& step) {
  set_angles(step.positions);
  float* update = nullptr;
  for (size_t i = 0; i < config_.trunk_layers(); ++i) {
    run_layer(i, update, step, fault_before(first_layer_ + i));
    update = config_.layer_scalars || bert_ ? nullptr : work_.output;
  }
  return update;
}

void Model::leave(float* update, const ModelStep& step, int32_t first_output) {
  const auto rows = static_cast<int64_t>(step.ids.size());
  float* const normed = mtp_ ? work_.hidden : work_.normed;
  if (!bert_) norm_residual(update, final_norm_, rows, normed, fault_before(whole_.trunk_layers()));
  if (eagle3_) {
    eagle3_->take_input(config_.trunk_layers(), work_.residual, rows);
    eagle3_->fuse(rows);
  }
  if (step.outputs.empty()) return;
  backend_.take_rows(normed, step.outputs, config_.hidden,
                     work_.final + static_cast<int64_t>(first_output) * config_.hidden);
}

// residual += all ranks' update, then its norm: where the rank looks for faults, the one is at `place`, the
// other at the next. An update that norm_sum() made is the same on all ranks already.
void Model::norm_residual(float* update, const DeviceVector& weight, int64_t rows, float* out,
                          int32_t place) {
  const bool looks = place != 0 && shard_.rank == 0;
  const FaultMarks marks{.first = looks ? work_.faults + first_row_ : nullptr, .place = place};
  if (config_.post_norms) {
    backend_.add_rms_norm(work_.residual, update, weight.data(), config_.norm_eps, rows, config_.hidden, out,
                          marks);
    return;
  }
  if (config_.layer_norm) {
    if (update != nullptr) ranks_.all_reduce(update, rows * config_.hidden);
    backend_.add_layer_norm(work_.residual, update, weight.data(), config_.norm_eps, rows, config_.hidden,
                            out, marks);
    return;
  }
  ranks_.all_reduce_add_rms_norm(backend_, work_.residual, update, weight.data(), config_.norm_eps, rows,
                                 config_.hidden, out, marks);
}

// x = the norm of the sum of all ranks' x.
void Model::norm_sum(float* x, const DeviceVector& weight, int64_t rows) {
  ranks_.all_reduce(x, rows * config_.hidden);
  backend_.rms_norm(x, weight.data(), config_.norm_eps, rows, config_.hidden, x);
}

// The same of what the feed-forward gave, which experts with norms of their own have summed already.
void Model::norm_fed(size_t index, int64_t rows) {
  const LayerWeights& layer = layers_[index];
  const auto* const moe = std::get_if<MoeWeights>(&layer.feed_forward);
  if (moe == nullptr || !moe->norms) return norm_sum(work_.output, layer.fed_norm, rows);
  backend_.rms_norm(work_.output, layer.fed_norm.data(), config_.norm_eps, rows, config_.hidden,
                    work_.output);
}

// residual = scalar · (residual + the layer's update).
void Model::multiply_residual(float scalar, int64_t rows) {
  backend_.add_gated(work_.residual, work_.output, nullptr, rows, config_.hidden);
  backend_.scale(work_.residual, rows * config_.hidden, scalar);
}

// The residual stream begins with the norm of the embeddings, which is what the first layer takes too.
void Model::norm_embeddings(int64_t rows) {
  if (embedding_norm_.empty()) return;
  for (float* const out : {work_.normed, work_.residual}) {
    backend_.add_layer_norm(work_.residual, nullptr, embedding_norm_.data(), config_.norm_eps, rows,
                            config_.hidden, out, {});
    if (bert_) backend_.add_bias(out, bert_->norm_bias.data(), rows, config_.hidden);
  }
}

void Model::run_layer(size_t index, float* update, const ModelStep& step, int32_t place) {
  if (bert_) return run_bert_layer(index, step, place);
  const LayerWeights& layer = layers_[index];
  const auto rows = static_cast<int64_t>(step.ids.size());
  if (!layer.input_norm.empty()) norm_residual(update, layer.input_norm, rows, work_.normed, place);
  if (eagle3_) eagle3_->take_input(index, work_.residual, rows);
  std::visit([&](const auto& weights) { mix(weights, index, step); }, layer.mixer);
  if (config_.post_norms) norm_sum(work_.output, layer.mixed_norm, rows);
  norm_residual(work_.output, layer.post_norm, rows, work_.normed, place == 0 ? 0 : place + 2);
  feed_forward(index, step);
  if (config_.post_norms) norm_fed(index, rows);
  if (layer.input) take_layer_input(index, rows);
  if (layer.scalar) multiply_residual(*layer.scalar, rows);
}

std::span<const float> Model::hidden(int32_t first, int32_t count) {
  const int64_t width = config_.hidden;
  return backend_.to_host(work_.final + first * width, count * width);
}

// Each token's row lies on one rank; the others add zeros to it.
void Model::embed(const Matrix& table, std::span<const int32_t> ids) {
  own_ids_.clear();
  for (const int32_t id : ids) {
    const int64_t own = id - vocab_.begin;
    own_ids_.push_back(own >= 0 && own < vocab_.count ? static_cast<int32_t>(own) : kNoRow);
  }
  backend_.gather(table, own_ids_, work_.residual);
  const int64_t floats = static_cast<int64_t>(ids.size()) * config_.hidden;
  ranks_.all_reduce(work_.residual, floats);
  if (config_.embedding_scale != 1) backend_.scale(work_.residual, floats, config_.embedding_scale);
}

void Model::set_angles(std::span<const int32_t> positions) {
  backend_.rope_angles(positions, frequencies_.data(), config_.rope.rotary / 2,
                       rope_factor(config_.rope.scaling), work_.cos, work_.sin);
  if (!config_.window_rope) return;
  const RopeConfig& rope = *config_.window_rope;
  backend_.rope_angles(positions, window_frequencies_.data(), rope.rotary / 2, rope_factor(rope.scaling),
                       work_.window_cos, work_.window_sin);
}

void Model::mix(const AttentionWeights& weights, size_t layer, const ModelStep& step) {
  const auto rows = static_cast<int64_t>(step.ids.size());
  const AttentionShape& shape = attention_[layer];
  const int64_t q_width = static_cast<int64_t>(shape.heads) * shape.head_dim;
  const int64_t kv_width = static_cast<int64_t>(shape.kv_heads) * shape.head_dim;
  const int64_t stride = weights.qkv.width();
  weights.qkv.apply(backend_, work_.normed, rows, work_.wide);
  adapters_.apply(step.adapted, layer, Site::kQkv, work_.normed, work_.wide, stride);
  forget(work_.normed);
  float* const q = work_.wide;
  float* const k = q + (config_.output_gate ? 2 : 1) * q_width;
  float* const v = weights.keys_are_values ? k : k + kv_width;
  const KvCache cache = caches_.kv(layer);
  const bool own_angles = config_.window_rope && shape.window > 0;
  NormRope norm{.eps = config_.norm_eps,
                .rotary = own_angles ? config_.window_rope->rotary : config_.rope.rotary,
                .cos = own_angles ? work_.window_cos : work_.cos,
                .sin = own_angles ? work_.window_sin : work_.sin,
                .v_norm = ones_.data()};
  if (config_.qk_norm) {
    norm.q_norm = weights.q_norm.data();
    norm.k_norm = weights.k_norm.data();
  }
  AttentionShape written = shape;
  if (weights.shares_kv) written.kv_heads = 0;  // what it reads is in the cache already
  backend_.norm_rope_write(written, step.segments, norm, q, k, v, stride, cache);
  backend_.attention(
      shape, step.segments, q, stride, cache, work_.mixed,
      {.cap = config_.score_cap, .sinks = weights.sinks.data(), .causal = !config_.bidirectional});
  if (config_.output_gate) backend_.sigmoid_mul(work_.mixed, q + q_width, stride, rows, q_width);
  weights.o.apply(backend_, work_.mixed, rows, work_.output);
  adapters_.apply(step.adapted, layer, Site::kOutput, work_.mixed, work_.output, config_.hidden);
}

void Model::mix(const GdnWeights& weights, size_t layer, const ModelStep& step) {
  const auto rows = static_cast<int64_t>(step.ids.size());
  const GdnShape shape = gdn_shape(*config_.gdn);
  const GdnState state = caches_.gdn(layer);
  const int64_t stride = weights.qkvz.width();
  replay_drafts(weights, layer);
  // The small product first: while it runs, the first weights of the large one come.
  weights.ba.apply(backend_, work_.normed, rows, work_.gates);
  weights.qkvz.apply(backend_, work_.normed, rows, work_.wide);
  forget(work_.normed);
  keep_draft_inputs(layer, stride);
  const GdnNorm norm{.z = work_.wide + gdn_channels(shape),
                     .stride = stride,
                     .weight = weights.norm.data(),
                     .eps = config_.norm_eps};
  for (const StateRound& round : rounds_) {
    backend_.gdn_conv(shape, round.segments, weights.conv.data(), work_.wide, stride, state);
    backend_.gdn(shape, round.segments, work_.wide, stride, work_.gates, work_.gates + shape.v_heads,
                 weights.ba.width(), weights.a_log.data(), weights.dt_bias.data(), state, work_.mixed, norm);
    backend_.gdn_copy(shape, round.copies, state);
  }
  weights.out.apply(backend_, work_.mixed, rows, work_.output);
}

}  // namespace llmservice
