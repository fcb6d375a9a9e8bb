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

struct MoeWeights {
  Linear router;            // (experts, hidden)
  DeviceVector correction;  // (experts), of scores by sigmoids; empty: none
  Experts experts;
  DeviceVector gate_up_bias;  // to which `experts` point; empty: none
  DeviceVector down_bias;
  std::optional<SharedExpertWeights> shared;

  size_t bytes() const;
};

RoutingShape routing_shape(const MoeConfig& moe);

// Reads the layer whose tensors begin with `prefix` (for example "model.layers.3.mlp."). Experts lie one by
// one (experts.0.gate_proj.weight) or stacked in one tensor per projection (experts.gate_up_proj).
MoeWeights read_moe(WeightReader& reader, const ModelConfig& config, Shard shard, const std::string& prefix);

}  // namespace llmservice
