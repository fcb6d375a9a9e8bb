// The weights of one mixture-of-experts feed-forward layer. Every rank holds all experts, each by its share
// of the width.
#pragma once

#include "model/config.h"
#include "model/weights.h"

namespace llmservice {

// Every row runs it too, opened by sigmoid(gate(x)) where there is a gate.
struct SharedExpertWeights {
  Linear gate_up;
  Linear down;
  std::optional<Linear> gate;  // (1, hidden)
};

// Of layers whose router, experts and shared expert read the residual each by a norm of its own. That of the
// experts' input is the layer's.
struct ExpertNorms {
  DeviceVector router;         // (hidden), with what it is scaled by
  DeviceVector routed;         // of what the experts give
  DeviceVector shared_input;   // of what the shared expert reads
  DeviceVector shared;         // of what it gives
  DeviceVector expert_scales;  // (experts), of their weights in a row

  size_t bytes() const {
    return router.bytes() + routed.bytes() + shared_input.bytes() + shared.bytes() + expert_scales.bytes();
  }
};

struct MoeWeights {
  Linear router;            // (experts, hidden)
  DeviceVector correction;  // (experts), of scores by sigmoids; empty: none
  Experts experts;
  DeviceVector gate_up_bias;  // to which `experts` point; empty: none
  DeviceVector down_bias;
  std::optional<SharedExpertWeights> shared;
  std::optional<ExpertNorms> norms;  // null: all read what the layer normed

  size_t bytes() const;
};

RoutingShape routing_shape(const MoeConfig& moe);

// Reads the layer whose tensors begin with `prefix` (for example "model.layers.3.mlp."). Experts lie one by
// one (experts.0.gate_proj.weight) or stacked in one tensor per projection (experts.gate_up_proj).
MoeWeights read_moe(WeightReader& reader, const ModelConfig& config, Shard shard, const std::string& prefix);
// `prefix` is the layer's.
ExpertNorms read_expert_norms(WeightReader& reader, const ModelConfig& config, const std::string& prefix);

}  // namespace llmservice
