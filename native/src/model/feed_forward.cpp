// The feed-forward layers of the forward pass, dense and mixture of experts: work_.normed in, work_.output
// out.
#include "model/model.h"

namespace llmservice {

void Model::feed_forward(size_t layer, const ModelStep& step) {
  std::visit([&](const auto& kind) { run(kind, layer, step); }, layers_[layer].feed_forward);
}

// work_.mixed (T, width) of work_.wide (T, 2 · width).
void Model::open_gates(int64_t rows, int64_t width) {
  if (config_.activation == Activation::kErfGelu) {
    backend_.erf_gelu_mul(work_.wide, rows, width, work_.mixed);
  } else if (config_.activation == Activation::kGelu) {
    backend_.gelu_mul(work_.wide, rows, width, work_.mixed);
  } else {
    backend_.silu_mul(work_.wide, rows, width, work_.mixed);
  }
}

// Nothing reads x again before it is written.
void Model::forget(const float* x) {
  if (gated_ != nullptr) gated_->forget(x);
}

// work_.output of work_.normed as one op; false where the layer or the backend has other ones.
bool Model::feed_gated(const MlpWeights& weights, int64_t rows) {
  if (gated_ == nullptr || config_.activation != Activation::kSilu || !weights.gate_up.bias.empty())
    return false;
  gated_->gated_matmul(*weights.gate_up.w, *weights.down.w, work_.normed, rows, work_.wide, work_.mixed,
                       work_.output);
  if (!weights.down.bias.empty())
    backend_.add_bias(work_.output, weights.down.bias.data(), rows, weights.down.width());
  return true;
}

void Model::run(const MlpWeights& weights, size_t layer, const ModelStep& step) {
  const auto rows = static_cast<int64_t>(step.ids.size());
  if (bert_) return feed_ungated(weights, rows);
  if (step.adapted.empty() && feed_gated(weights, rows)) return;
  weights.gate_up.apply(backend_, work_.normed, rows, work_.wide);
  adapters_.apply(step.adapted, layer, Site::kGateUp, work_.normed, work_.wide, weights.gate_up.width());
  forget(work_.normed);
  open_gates(rows, weights.gate_up.width() / 2);
  weights.down.apply(backend_, work_.mixed, rows, work_.output);
  adapters_.apply(step.adapted, layer, Site::kDown, work_.mixed, work_.output, config_.hidden);
  forget(work_.mixed);
}

// Which experts each row runs. work_.output is free: the residual has what it held.
void Model::route(const MoeWeights& weights, int64_t rows) {
  const RoutingShape shape = routing_shape(*config_.moe);
  const Routing routing{work_.expert_ids, work_.expert_weights};
  const float* x = work_.normed;
  if (weights.norms) {
    backend_.rms_norm(work_.residual, weights.norms->router.data(), config_.norm_eps, rows, config_.hidden,
                      work_.output);
    x = work_.output;
  }
  weights.router.apply(backend_, x, rows, work_.wide);
  if (config_.moe->sigmoid) {
    backend_.route_by_sigmoid(shape, *config_.moe->sigmoid, weights.correction.data(), work_.wide, rows,
                              routing);
  } else {
    backend_.route(shape, work_.wide, rows, routing);
  }
  if (weights.norms) backend_.scale_routes(shape, weights.norms->expert_scales.data(), rows, routing);
}

void Model::run(const MoeWeights& weights, size_t, const ModelStep& step) {
  const auto rows = static_cast<int64_t>(step.ids.size());
  route(weights, rows);
  const ExpertWorkspace room{
      .rows = max_tokens_, .hidden = work_.expert_rows, .wide = work_.wide, .mixed = work_.mixed};
  backend_.run_experts(weights.experts, routing_shape(*config_.moe), {work_.expert_ids, work_.expert_weights},
                       work_.normed, rows, room, work_.output);
  const ExpertNorms* const norms = weights.norms ? &*weights.norms : nullptr;
  if (norms != nullptr) norm_sum(work_.output, norms->routed, rows);
  if (!weights.shared) return;
  if (norms != nullptr) {
    backend_.rms_norm(work_.residual, norms->shared_input.data(), config_.norm_eps, rows, config_.hidden,
                      work_.normed);
  }
  const SharedExpertWeights& shared = *weights.shared;
  shared.gate_up.apply(backend_, work_.normed, rows, work_.wide);
  open_gates(rows, shared.gate_up.width() / 2);
  shared.down.apply(backend_, work_.mixed, rows, work_.expert_rows);
  if (norms != nullptr) norm_sum(work_.expert_rows, norms->shared, rows);
  if (shared.gate) shared.gate->apply(backend_, work_.normed, rows, work_.wide);
  backend_.add_gated(work_.output, work_.expert_rows, shared.gate ? work_.wide : nullptr, rows,
                     config_.hidden);
}

}  // namespace llmservice
