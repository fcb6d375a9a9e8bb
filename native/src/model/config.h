// What the engine needs to know of a model, complete and checked: ModelShape of the package that reads
// checkpoints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ops/ops.h"

namespace llmservice {

// Llama 3.1's stretch of the low rotary frequencies.
struct Llama3Scaling {
  double factor;
  double low_freq_factor;
  double high_freq_factor;
  double original_max_positions;
};

// All rotary frequencies divided by one factor.
struct LinearScaling {
  double factor;
};

// YaRN: low frequencies are divided by `factor`, high ones kept, those between blended; queries and keys
// grow by `attention_factor`.
struct YarnScaling {
  double factor;
  double original_max_positions;
  double beta_fast;  // rotations over the original context above which a frequency is kept
  double beta_slow;  // and below which it is divided
  bool truncate;     // the blended range begins and ends at whole frequencies
  double attention_factor;
};

// Each frequency divided by a number of its own.
struct DivisorScaling {
  std::vector<float> divisors;  // (rotary / 2)
};

// Frequencies are those of a whole head, divided by one factor, of which all but the first `angles` are zero.
struct ProportionalScaling {
  int32_t angles;
  double factor;
};

using RopeScaling = std::variant<std::monostate, Llama3Scaling, LinearScaling, YarnScaling, DivisorScaling,
                                 ProportionalScaling>;

struct RopeConfig {
  double theta;
  int32_t rotary;  // features of each head that rotate
  RopeScaling scaling;
};

// Gated DeltaNet layers of hybrid models.
struct GdnConfig {
  int32_t k_heads;
  int32_t v_heads;
  int32_t k_dim;
  int32_t v_dim;
  int32_t conv_kernel;
  bool interleaved = false;  // in_proj_qkvz and in_proj_ba, interleaved by key head
  bool tiled = false;        // as in GdnShape
};

// Attention of layers without a window, where it is not that of the others.
struct GlobalAttention {
  int32_t kv_heads;
  int32_t head_dim;
  bool keys_are_values;  // there is no v_proj: values are what k_proj gives
};

// The last layers, where they have no keys and values: each attends by those of the last layer before them
// of its kind.
struct SharedKv {
  int32_t layers;        // how many they are
  int32_t intermediate;  // of their dense feed-forward
};

// A second embedding of each token, of which each layer has a part of its own.
struct LayerEmbeddings {
  int32_t width;  // features of a layer's part
  float scale;    // what they are multiplied by
};

// Feed-forward layers of which each row runs only its top_k of `experts`.
struct MoeConfig {
  int32_t experts;
  int32_t top_k;
  int32_t intermediate;                       // width of one expert
  int32_t shared_intermediate;                // width of the expert that every row runs too; 0: there is none
  bool normalize_top_k;                       // a row's weights are scaled to sum to one
  bool biases = false;                        // of the router and of the experts' projections
  std::optional<ClampedSwiglu> clamped = {};  // of the experts' gates; null: SiLU
  bool shared_gate = true;                    // opens the expert that every row runs
  std::optional<SigmoidRouting> sigmoid = {};  // null: scores are a softmax
  // Router, experts and the expert that every row runs read the residual each by a norm of its own, and what
  // the two kinds give is normed before it is summed; experts weigh by a scale of their own.
  bool own_norms = false;
};

// Built as BERT is: positions are learned, every token is of the first type, norms have biases and stand
// behind attention and feed-forward, which has no gate.
struct BertConfig {
  int32_t positions;       // that were learned
  int32_t first_position;  // of a sequence, among those
  int32_t types;           // of tokens, of which the first is all that occurs
};

enum class LayerKind : uint8_t { kAttention, kGdn };
enum class FeedForwardKind : uint8_t { kDense, kMoe };

// Of a feed-forward's gate: kGelu is approximated by tanh, kErfGelu is not.
enum class Activation : uint8_t { kSilu, kGelu, kErfGelu };

struct ModelConfig {
  std::string architecture;
  int32_t hidden;
  int32_t heads;
  int32_t kv_heads;
  int32_t head_dim;
  int32_t intermediate;  // of the dense feed-forward layers; 0: there are none
  int32_t vocab;
  float norm_eps;
  bool tied_head;
  bool qkv_bias;
  bool output_bias;  // of the projection behind attention
  bool mlp_bias;
  bool qk_norm;
  bool output_gate;       // q_proj emits [q | gate] per head
  bool unit_offset_norm;  // norms multiply by 1 + w
  RopeConfig rope;
  std::vector<LayerKind> layers;
  std::vector<FeedForwardKind> feed_forward;  // of each layer
  std::vector<int32_t> windows;               // of each layer: positions that its attention sees, 0: all
  std::optional<GdnConfig> gdn;
  std::optional<MoeConfig> moe;
  float embedding_scale = 1;  // what embeddings are multiplied by
  bool post_norms = false;    // what attention and feed-forward give is normalized before it is added
  Activation activation = Activation::kSilu;
  double query_scalar = 0;                // scores of attention are divided by its root; 0: head_dim
  float score_cap = 0;                    // scores of attention become cap * tanh(x / cap); 0: they stay
  float logit_cap = 0;                    // logits likewise
  std::optional<RopeConfig> window_rope;  // of layers with a window; null: that of the others
  bool attention_sinks = false;           // a score of each head joins the softmax, without a value
  bool bidirectional = false;             // attention sees what lies behind a position too, as windows do
  bool layer_norm = false;                // norms subtract the mean
  bool embedding_norm = false;            // of embeddings, which the first layer takes as they are
  std::optional<GlobalAttention> global_attention = {};
  std::optional<SharedKv> shared_kv = {};
  std::optional<LayerEmbeddings> layer_embeddings = {};
  std::optional<BertConfig> bert = {};
  bool keys_are_values = false;  // of of_layer() alone, as the next
  bool shares_kv = false;
  bool value_norm = false;     // values are normed by head, without a weight
  bool layer_scalars = false;  // the residual stream is multiplied by a number behind each layer
  bool mtp = false;  // the last of the layers is the one for multi-token prediction: no part of the trunk

  bool hybrid() const { return gdn.has_value(); }
  // The layer whose keys and values the attention of `layer` reads: itself, but for those that share.
  size_t kv_layer(size_t layer) const {
    const size_t first = layers.size() - (shared_kv ? shared_kv->layers : 0);
    if (layer < first) return layer;
    size_t source = first - 1;
    while (source > 0 && windows[source] != windows[layer]) --source;
    return source;
  }
  // The same with this layer's attention and feed-forward as those of all.
  ModelConfig of_layer(size_t layer) const {
    ModelConfig own = *this;
    own.shares_kv = kv_layer(layer) != layer;
    if (own.shares_kv) own.intermediate = shared_kv->intermediate;
    if (!global_attention || windows[layer] > 0) return own;
    own.kv_heads = global_attention->kv_heads;
    own.head_dim = global_attention->head_dim;
    own.keys_are_values = global_attention->keys_are_values;
    return own;
  }
  size_t trunk_layers() const { return layers.size() - (mtp ? 1 : 0); }
};

// What an EAGLE-3 draft model has beside the config of its layer (eagle3.h).
struct Eagle3Config {
  int32_t vocab;                // draft tokens
  std::vector<int32_t> layers;  // of the model, ascending: it reads what they read
  bool norm_before_residual;    // the residual stream begins with the normed hidden
  bool norm_before_fc;          // what the layers read is normed, the three as one, before it is joined
  bool norm_output;             // later drafts continue from the layer's output behind its norm
};

}  // namespace llmservice
