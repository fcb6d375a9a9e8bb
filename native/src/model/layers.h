// The weights of one decoder layer and how they are read. Shapes are those of this rank.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/config.h"
#include "model/moe.h"
#include "model/weights.h"

namespace llmservice {

// qkv emits [q heads | gate heads (when output_gate) | k | v] of one row; no v where keys are values, neither
// where the layer reads those of another.
struct AttentionWeights {
  Linear qkv;
  DeviceVector q_norm;  // empty: no norm
  DeviceVector k_norm;
  Linear o;
  DeviceVector sinks;  // (heads); empty: none
  bool keys_are_values = false;
  bool shares_kv = false;
};

// How a layer takes its part of the embeddings of layers.
struct LayerInputWeights {
  Linear gate;
  Linear projection;
  DeviceVector norm;

  size_t bytes() const { return gate.bytes() + projection.bytes() + norm.bytes(); }
};

// qkvz emits [q | k | v | z] of one row, ba emits [b | a].
struct GdnWeights {
  Linear qkvz;
  Linear ba;
  DeviceVector conv;     // (channels, conv_kernel)
  DeviceVector a_log;    // (v_heads)
  DeviceVector dt_bias;  // (v_heads)
  DeviceVector norm;     // (v_dim)
  Linear out;
};

struct MlpWeights {
  Linear gate_up;
  Linear down;

  size_t bytes() const { return gate_up.bytes() + down.bytes(); }
};

struct LayerWeights {
  DeviceVector input_norm;  // empty: it takes normed embeddings as they are
  std::variant<AttentionWeights, GdnWeights> mixer;
  DeviceVector post_norm;  // before the feed-forward
  // Of what attention and feed-forward give; empty: no norm.
  DeviceVector mixed_norm;
  DeviceVector fed_norm;
  // As BERT has them; empty: norms have none.
  DeviceVector post_norm_bias;
  DeviceVector fed_norm_bias;
  std::variant<MlpWeights, MoeWeights> feed_forward;
  std::optional<LayerInputWeights> input;
  std::optional<float> scalar;  // multiplies the residual stream behind the layer

  size_t bytes() const;
};

// The matrices of a layer with attention and a dense feed-forward, by the names of their fields.
enum class Site : uint8_t { kQkv, kOutput, kGateUp, kDown };
constexpr size_t kSites = 4;

// What this rank's matrix is made of, of a layer whose tensors begin with `prefix`.
std::vector<Band> site_bands(const ModelConfig& config, Shard shard, Site site, const std::string& prefix);

// Reads layer `prefix` (for example "model.layers.3.") of a model whose whole config, of this layer, is
// `config`; `first`: of all.
LayerWeights read_layer(WeightReader& reader, const ModelConfig& config, Shard shard, LayerKind kind,
                        FeedForwardKind feed_forward, const std::string& prefix, bool first = false);

}  // namespace llmservice
