// The feed-forward layers of the forward pass, dense and mixture of experts: work_.normed in, work_.output
// out.
#include "model/model.h"

namespace llmservice {

void Model::feed_forward(size_t layer, const ModelStep& step) {
  std::visit([&](const auto& kind) { run(kind, layer, step); }, layers_[layer].feed_forward);
}

void Model::run(const MlpWeights& weights, size_t layer, const ModelStep& step) {
  const auto rows = static_cast<int64_t>(step.ids.size());
  weights.gate_up.apply(backend_, work_.normed, rows, work_.wide);
  adapters_.apply(step.adapted, layer, Site::kGateUp, work_.normed, work_.wide, weights.gate_up.width());
  const int64_t width = weights.gate_up.width() / 2;
  if (config_.activation == Activation::kErfGelu) {
    backend_.erf_gelu_mul(work_.wide, rows, width, work_.mixed);
  } else if (config_.activation == Activation::kGelu) {
    backend_.gelu_mul(work_.wide, rows, width, work_.mixed);
  } else {
    backend_.silu_mul(work_.wide, rows, width, work_.mixed);
  }
  weights.down.apply(backend_, work_.mixed, rows, work_.output);
  adapters_.apply(step.adapted, layer, Site::kDown, work_.mixed, work_.output, config_.hidden);
}

void Model::run(const MoeWeights& weights, size_t, const ModelStep& step) {
  const auto rows = static_cast<int64_t>(step.ids.size());
  const RoutingShape shape = routing_shape(*config_.moe);
  const Routing routing{work_.expert_ids, work_.expert_weights};
  weights.router.apply(backend_, work_.normed, rows, work_.wide);
  if (config_.moe->sigmoid) {
    backend_.route_by_sigmoid(shape, *config_.moe->sigmoid, weights.correction.data(), work_.wide, rows,
                              routing);
  } else {
    backend_.route(shape, work_.wide, rows, routing);
  }
  const ExpertWorkspace room{
      .rows = max_tokens_, .hidden = work_.expert_rows, .wide = work_.wide, .mixed = work_.mixed};
  backend_.run_experts(weights.experts, shape, routing, work_.normed, rows, room, work_.output);
  if (!weights.shared) return;
  const SharedExpertWeights& shared = *weights.shared;
  shared.gate_up.apply(backend_, work_.normed, rows, work_.wide);
  backend_.silu_mul(work_.wide, rows, shared.gate_up.width() / 2, work_.mixed);
  shared.down.apply(backend_, work_.mixed, rows, work_.expert_rows);
  if (shared.gate) shared.gate->apply(backend_, work_.normed, rows, work_.wide);
  backend_.add_gated(work_.output, work_.expert_rows, shared.gate ? work_.wide : nullptr, rows,
                     config_.hidden);
}

}  // namespace llmservice
