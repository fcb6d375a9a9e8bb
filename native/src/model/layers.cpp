#include "model/layers.h"

#include "model/gdn_bands.h"

namespace llmservice {
namespace {

// `heads` of `head_dim` rows each.
Range head_rows(Range heads, int64_t head_dim) { return {heads.begin * head_dim, heads.count * head_dim}; }

float norm_offset(const ModelConfig& config) { return config.unit_offset_norm ? 1.0f : 0.0f; }

std::vector<Band> qkv_bands(const ModelConfig& c, Shard shard, const std::string& prefix) {
  const HeadShard heads = shard_heads(c.heads, c.kv_heads, shard);
  const int64_t d = c.head_dim;
  std::vector<Band> bands;
  if (c.output_gate) {
    // Stored per head as [q | gate]: gathered here into all q, then all gates.
    for (const int64_t part : {0, 1}) {
      for (int64_t h = heads.q.begin; h < heads.q.begin + heads.q.count; ++h) {
        bands.push_back(
            {prefix + "q_proj", 2 * c.heads * d, c.hidden, {(2 * h + part) * d, d}, whole(c.hidden)});
      }
    }
  } else {
    bands.push_back({prefix + "q_proj", c.heads * d, c.hidden, head_rows(heads.q, d), whole(c.hidden)});
  }
  const auto push_kv = [&](const char* name) {
    bands.push_back({prefix + name, c.kv_heads * d, c.hidden, head_rows(heads.kv, d), whole(c.hidden)});
  };
  if (c.shares_kv) return bands;
  push_kv("k_proj");
  if (!c.keys_are_values) push_kv("v_proj");
  return bands;
}

std::vector<Band> output_bands(const ModelConfig& c, Shard shard, const std::string& prefix) {
  const Range columns = head_rows(shard_heads(c.heads, c.kv_heads, shard).q, c.head_dim);
  return {{prefix + "o_proj", c.hidden, int64_t{c.heads} * c.head_dim, whole(c.hidden), columns}};
}

std::vector<Band> gate_up_bands(const ModelConfig& c, Shard shard, const std::string& prefix) {
  const Range width = shard_range(c.intermediate, shard, "intermediate_size");
  if (c.bert) return {{prefix + "up_proj", c.intermediate, c.hidden, width, whole(c.hidden)}};
  return {{prefix + "gate_proj", c.intermediate, c.hidden, width, whole(c.hidden)},
          {prefix + "up_proj", c.intermediate, c.hidden, width, whole(c.hidden)}};
}

std::vector<Band> down_bands(const ModelConfig& c, Shard shard, const std::string& prefix) {
  const Range width = shard_range(c.intermediate, shard, "intermediate_size");
  return {{prefix + "down_proj", c.hidden, c.intermediate, whole(c.hidden), width}};
}

AttentionWeights read_attention(WeightReader& reader, const ModelConfig& c, Shard shard,
                                const std::string& prefix) {
  const int64_t d = c.head_dim;
  AttentionWeights weights;
  weights.keys_are_values = c.keys_are_values;
  weights.shares_kv = c.shares_kv;
  weights.qkv = reader.linear(qkv_bands(c, shard, prefix), c.qkv_bias);
  if (c.qk_norm) {
    weights.q_norm = reader.vector(prefix + "q_norm.weight", {d}, whole(d), norm_offset(c));
    if (!c.shares_kv) weights.k_norm = reader.vector(prefix + "k_norm.weight", {d}, whole(d), norm_offset(c));
  }
  weights.o = reader.linear(output_bands(c, shard, prefix), c.output_bias && shard.rank == 0);
  if (c.attention_sinks) {
    const Range heads = shard_heads(c.heads, c.kv_heads, shard).q;
    weights.sinks = reader.vector(prefix + "sinks", {c.heads}, heads);
  }
  return weights;
}

GdnWeights read_gdn(WeightReader& reader, const ModelConfig& c, Shard shard, const std::string& prefix) {
  const GdnConfig& g = *c.gdn;
  const int64_t k_width = static_cast<int64_t>(g.k_heads) * g.k_dim;
  const int64_t v_width = static_cast<int64_t>(g.v_heads) * g.v_dim;
  const int64_t channels = 2 * k_width + v_width;
  const Range k = head_rows(shard_range(g.k_heads, shard, "linear_num_key_heads"), g.k_dim);
  const std::vector<Range> v_heads = shard_value_heads(g, shard);
  std::vector<Range> parts = {k, {k_width + k.begin, k.count}};
  for (const Range heads : v_heads) {
    const Range v = head_rows(heads, g.v_dim);
    parts.push_back({2 * k_width + v.begin, v.count});
  }

  const GdnBands bands = gdn_bands(c, shard, prefix, reader.checkpoint().has(prefix + "in_proj_qkv.weight"));
  GdnWeights weights;
  weights.qkvz = reader.linear(bands.qkvz, false);
  weights.ba = reader.linear(bands.ba, false);
  weights.conv = reader.vector(prefix + "conv1d.weight", {channels, 1, g.conv_kernel}, parts);
  weights.a_log = reader.vector(prefix + "A_log", {g.v_heads}, v_heads);
  weights.dt_bias = reader.vector(prefix + "dt_bias", {g.v_heads}, v_heads);
  weights.norm = reader.vector(prefix + "norm.weight", {g.v_dim}, whole(g.v_dim));
  // Its columns come in an order of which each rank has a run (rounds_by_rank.h).
  const Range v = head_rows(shard_range(g.v_heads, shard, "linear_num_value_heads"), g.v_dim);
  weights.out = reader.linear({{prefix + "out_proj", c.hidden, v_width, whole(c.hidden), v}}, false);
  return weights;
}

MlpWeights read_mlp(WeightReader& reader, const ModelConfig& c, Shard shard, const std::string& prefix) {
  return {.gate_up = reader.linear(gate_up_bands(c, shard, prefix), c.mlp_bias),
          .down = reader.linear(down_bands(c, shard, prefix), c.mlp_bias && shard.rank == 0)};
}

// Whole on each rank: small beside what ranks divide, and nothing is left to add up.
LayerInputWeights read_layer_input(WeightReader& reader, const ModelConfig& c, const std::string& prefix) {
  const int64_t width = c.layer_embeddings->width;
  const auto matrix = [&](const char* name, int64_t rows, int64_t cols) {
    return reader.linear({{prefix + name, rows, cols, whole(rows), whole(cols)}}, false);
  };
  return {.gate = matrix("per_layer_input_gate", width, c.hidden),
          .projection = matrix("per_layer_projection", c.hidden, width),
          .norm = reader.vector(prefix + "post_per_layer_input_norm.weight", {c.hidden}, whole(c.hidden))};
}

size_t mixer_bytes(const AttentionWeights& w) {
  return w.qkv.bytes() + w.q_norm.bytes() + w.k_norm.bytes() + w.o.bytes() + w.sinks.bytes();
}

size_t mixer_bytes(const GdnWeights& w) {
  return w.qkvz.bytes() + w.ba.bytes() + w.conv.bytes() + w.a_log.bytes() + w.dt_bias.bytes() +
         w.norm.bytes() + w.out.bytes();
}

}  // namespace

size_t LayerWeights::bytes() const {
  const size_t mixed = std::visit([](const auto& weights) { return mixer_bytes(weights); }, mixer);
  const size_t fed = std::visit([](const auto& weights) { return weights.bytes(); }, feed_forward);
  return mixed + fed + (input ? input->bytes() : 0) + input_norm.bytes() + post_norm.bytes() +
         mixed_norm.bytes() + fed_norm.bytes() + post_norm_bias.bytes() + fed_norm_bias.bytes();
}

std::vector<Band> site_bands(const ModelConfig& c, Shard shard, Site site, const std::string& prefix) {
  switch (site) {
    case Site::kQkv:
      return qkv_bands(c, shard, prefix + "self_attn.");
    case Site::kOutput:
      return output_bands(c, shard, prefix + "self_attn.");
    case Site::kGateUp:
      return gate_up_bands(c, shard, prefix + "mlp.");
    default:
      return down_bands(c, shard, prefix + "mlp.");
  }
}

LayerWeights read_layer(WeightReader& reader, const ModelConfig& c, Shard shard, LayerKind kind,
                        FeedForwardKind feed_forward, const std::string& prefix, bool first) {
  const auto norm = [&](const char* name) {
    return reader.vector(prefix + name, {c.hidden}, whole(c.hidden), norm_offset(c));
  };
  LayerWeights layer;
  if (!c.bert && (!first || !c.embedding_norm)) layer.input_norm = norm("input_layernorm.weight");
  if (kind == LayerKind::kAttention) {
    layer.mixer = read_attention(reader, c, shard, prefix + "self_attn.");
  } else {
    layer.mixer = read_gdn(reader, c, shard, prefix + "linear_attn.");
  }
  if (c.bert) {
    layer.post_norm = norm("post_attention_layernorm.weight");
    layer.post_norm_bias = norm("post_attention_layernorm.bias");
    layer.fed_norm = norm("post_feedforward_layernorm.weight");
    layer.fed_norm_bias = norm("post_feedforward_layernorm.bias");
  } else if (c.post_norms) {
    layer.mixed_norm = norm("post_attention_layernorm.weight");
    const bool experts_first = feed_forward == FeedForwardKind::kMoe && c.moe->own_norms;
    layer.post_norm =
        norm(experts_first ? "pre_feedforward_layernorm_2.weight" : "pre_feedforward_layernorm.weight");
    layer.fed_norm = norm("post_feedforward_layernorm.weight");
  } else {
    layer.post_norm = norm("post_attention_layernorm.weight");
  }
  if (feed_forward == FeedForwardKind::kMoe) {
    MoeWeights moe = read_moe(reader, c, shard, prefix + "mlp.");
    if (c.moe->own_norms) moe.norms = read_expert_norms(reader, c, prefix);
    layer.feed_forward = std::move(moe);
  } else {
    layer.feed_forward = read_mlp(reader, c, shard, prefix + "mlp.");
  }
  if (c.layer_embeddings) layer.input = read_layer_input(reader, c, prefix);
  if (c.layer_scalars) layer.scalar = reader.number(prefix + "layer_scalar");
  return layer;
}

}  // namespace llmservice
