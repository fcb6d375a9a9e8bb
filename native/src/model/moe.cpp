#include "model/moe.h"

#include <cmath>

#include "model/self_check/samples.h"

namespace llmservice {
namespace {

struct ExpertBands {
  std::vector<Band> gate_up;
  Band down;
};

// Tensor experts.gate_up_proj is (experts, 2 · width, hidden), gate over up; experts.down_proj (experts,
// hidden, width).
ExpertBands stacked_bands(const std::string& prefix, int32_t expert, const ModelConfig& c, Range width) {
  const int64_t all = c.moe->intermediate;
  const Range up{all + width.begin, width.count};
  const StackPlace place{expert, c.moe->experts};
  const std::string gate_up = prefix + "gate_up_proj";
  return {{{gate_up, 2 * all, c.hidden, width, whole(c.hidden), place},
           {gate_up, 2 * all, c.hidden, up, whole(c.hidden), place}},
          {prefix + "down_proj", c.hidden, all, whole(c.hidden), width, place}};
}

// The same with gate and up each in a tensor of its own, (experts, width, hidden), as GGUF files have them.
ExpertBands split_bands(const std::string& prefix, int32_t expert, const ModelConfig& c, Range width) {
  const int64_t all = c.moe->intermediate;
  const StackPlace place{expert, c.moe->experts};
  return {{{prefix + "gate_proj", all, c.hidden, width, whole(c.hidden), place},
           {prefix + "up_proj", all, c.hidden, width, whole(c.hidden), place}},
          {prefix + "down_proj", c.hidden, all, whole(c.hidden), width, place}};
}

// A feed-forward network stored by itself: `prefix` names an expert or the shared one.
ExpertBands single_bands(const std::string& prefix, int64_t all, int64_t hidden, Range width) {
  return {{{prefix + "gate_proj", all, hidden, width, whole(hidden)},
           {prefix + "up_proj", all, hidden, width, whole(hidden)}},
          {prefix + "down_proj", hidden, all, whole(hidden), width}};
}

// Columns of the tensors (experts, columns) whose values join gate and up: of one tensor, or one each.
std::vector<ColumnBand> gate_and_up_biases(const Checkpoint& checkpoint, const std::string& prefix,
                                           int64_t all, Range width) {
  const std::string fused = prefix + "gate_up_proj.bias";
  if (checkpoint.has(fused)) {
    return {{fused, 2 * all, width}, {fused, 2 * all, {all + width.begin, width.count}}};
  }
  return {{prefix + "gate_proj.bias", all, width}, {prefix + "up_proj.bias", all, width}};
}

Samples::ExpertSource expert_source(const Checkpoint& checkpoint, int32_t expert, const ExpertBands& bands,
                                    const ModelConfig& c, Shard shard, const std::string& prefix) {
  const MoeConfig& moe = *c.moe;
  const Range width = shard_range(moe.intermediate, shard, "moe_intermediate_size");
  std::vector<ColumnBand> biases;
  if (moe.biases) biases = gate_and_up_biases(checkpoint, prefix, moe.intermediate, width);
  return {.expert = expert,
          .gate_up = bands.gate_up,
          .down = bands.down,
          .biases = std::move(biases),
          .down_bias = moe.biases && shard.rank == 0 ? prefix + "down_proj.bias" : "",
          .clamped = moe.clamped,
          .gelu = c.activation == Activation::kGelu};
}

Experts read_experts(WeightReader& reader, const ModelConfig& c, Shard shard, const std::string& prefix) {
  const Range width = shard_range(c.moe->intermediate, shard, "moe_intermediate_size");
  const bool stacked = reader.checkpoint().has(prefix + "gate_up_proj");
  const bool split = reader.checkpoint().has(prefix + "gate_proj");
  const auto bands_of = [&](int32_t e) {
    if (stacked) return stacked_bands(prefix, e, c, width);
    if (split) return split_bands(prefix, e, c, width);
    return single_bands(prefix + std::to_string(e) + ".", c.moe->intermediate, c.hidden, width);
  };
  // Of one layer alone.
  const bool sampled = reader.samples() != nullptr && reader.samples()->experts().empty();
  Experts experts;
  for (int32_t e = 0; e < c.moe->experts; ++e) {
    const ExpertBands bands = bands_of(e);
    experts.gate_up.push_back(reader.expert(bands.gate_up));
    experts.down.push_back(reader.expert({bands.down}));
    if (sampled && (e == 0 || e == c.moe->experts - 1)) {
      reader.samples()->take(reader.checkpoint(),
                             expert_source(reader.checkpoint(), e, bands, c, shard, prefix));
    }
  }
  return experts;
}

// What ranks compute of down is summed: one of them adds its bias.
void read_expert_biases(WeightReader& reader, const ModelConfig& c, Shard shard, const std::string& prefix,
                        MoeWeights& weights) {
  const MoeConfig& moe = *c.moe;
  const Range width = shard_range(moe.intermediate, shard, "moe_intermediate_size");
  const std::vector<ColumnBand> gate_and_up =
      gate_and_up_biases(reader.checkpoint(), prefix, moe.intermediate, width);
  weights.gate_up_bias = reader.columns(moe.experts, gate_and_up);
  weights.experts.gate_up_bias = weights.gate_up_bias.data();
  if (shard.rank != 0) return;
  const ColumnBand hidden[] = {{prefix + "down_proj.bias", c.hidden, whole(c.hidden)}};
  weights.down_bias = reader.columns(moe.experts, hidden);
  weights.experts.down_bias = weights.down_bias.data();
}

SharedExpertWeights read_shared(WeightReader& reader, const ModelConfig& c, Shard shard,
                                const std::string& prefix) {
  const int64_t all = c.moe->shared_intermediate;
  const Range width = shard_range(all, shard, "shared_expert_intermediate_size");
  const ExpertBands bands = single_bands(prefix + "shared_expert.", all, c.hidden, width);
  SharedExpertWeights shared{
      .gate_up = reader.linear(bands.gate_up, false), .down = reader.linear({bands.down}, false), .gate = {}};
  if (c.moe->shared_gate) {
    shared.gate =
        reader.linear({{prefix + "shared_expert_gate", 1, c.hidden, whole(1), whole(c.hidden)}}, false);
  }
  return shared;
}

}  // namespace

size_t MoeWeights::bytes() const {
  size_t total = router.bytes() + correction.bytes() + gate_up_bias.bytes() + down_bias.bytes();
  for (const auto& matrix : experts.gate_up) total += matrix->bytes;
  for (const auto& matrix : experts.down) total += matrix->bytes;
  if (shared) total += shared->gate_up.bytes() + shared->down.bytes();
  if (shared && shared->gate) total += shared->gate->bytes();
  if (norms) total += norms->bytes();
  return total;
}

RoutingShape routing_shape(const MoeConfig& moe) {
  return {.experts = moe.experts, .top_k = moe.top_k, .normalize = moe.normalize_top_k};
}

MoeWeights read_moe(WeightReader& reader, const ModelConfig& c, Shard shard, const std::string& prefix) {
  MoeWeights weights;
  weights.router = reader.linear(
      {{prefix + "gate", c.moe->experts, c.hidden, whole(c.moe->experts), whole(c.hidden)}}, c.moe->biases);
  if (c.moe->sigmoid) {
    weights.correction =
        reader.vector(prefix + "gate.e_score_correction_bias", {c.moe->experts}, whole(c.moe->experts));
  }
  weights.experts = read_experts(reader, c, shard, prefix + "experts.");
  weights.experts.clamped = c.moe->clamped;
  weights.experts.gelu = c.activation == Activation::kGelu;
  if (c.moe->biases) read_expert_biases(reader, c, shard, prefix + "experts.", weights);
  reader.backend().prepare(weights.experts, routing_shape(*c.moe));
  if (c.moe->shared_intermediate > 0) weights.shared = read_shared(reader, c, shard, prefix);
  return weights;
}

ExpertNorms read_expert_norms(WeightReader& reader, const ModelConfig& c, const std::string& prefix) {
  const auto hidden = [&](const std::string& name, float factor) {
    return reader.vector(prefix + name, {c.hidden}, whole(c.hidden), 0, factor);
  };
  const int64_t experts = c.moe->experts;
  return {.router = hidden("router.scale", 1.0f / std::sqrt(static_cast<float>(c.hidden))),
          .routed = hidden("post_feedforward_layernorm_2.weight", 1),
          .shared_input = hidden("pre_feedforward_layernorm.weight", 1),
          .shared = hidden("post_feedforward_layernorm_1.weight", 1),
          .expert_scales = reader.vector(prefix + "router.per_expert_scale", {experts}, whole(experts))};
}

}  // namespace llmservice
