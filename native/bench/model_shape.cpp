#include "model_shape.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace llmservice::bench {
namespace {

using nlohmann::json;

constexpr int64_t kHidden = 1024;
constexpr int64_t kVocab = 151936;
constexpr int64_t kExperts = 16;
constexpr int64_t kTopK = 4;

struct Architecture {
  std::string_view name;
  bool qk_norm;
  bool hybrid;
  bool experts;
  bool fused_projections;  // GDN's q, k, v and z in one tensor
};

constexpr Architecture kArchitectures[] = {
    {"llama", false, false, false, false},   {"qwen3", true, false, false, false},
    {"qwen3_moe", true, false, true, false}, {"qwen3_5_text", true, true, false, false},
    {"qwen3_next", true, true, true, true},  {"qwen3_5_moe_text", true, true, true, false},
};

// Heads and depth: Qwen3-0.6B's, or Qwen3.5-0.8B's for hybrids.
struct Sizes {
  int64_t layers, heads, kv_heads, head_dim, feed_forward;
};

Sizes sizes_of(const Architecture& a) {
  return a.hybrid ? Sizes{24, 8, 2, 256, 3584} : Sizes{28, 16, 8, 128, 3072};
}

constexpr int64_t kGdnHeads = 16;
constexpr int64_t kGdnDim = 128;
constexpr int64_t kGdnWidth = kGdnHeads * kGdnDim;
constexpr int64_t kConvKernel = 4;
constexpr int64_t kAttentionInterval = 4;

int64_t expert_width(const Sizes& s) { return s.feed_forward / kTopK; }

json config_of(const Architecture& a, const Sizes& s) {
  json config = {{"model_type", a.name},
                 {"hidden_size", kHidden},
                 {"num_hidden_layers", s.layers},
                 {"num_attention_heads", s.heads},
                 {"num_key_value_heads", s.kv_heads},
                 {"head_dim", s.head_dim},
                 {"intermediate_size", s.feed_forward},
                 {"vocab_size", kVocab},
                 {"max_position_embeddings", 40960},
                 {"rms_norm_eps", 1e-6},
                 {"rope_theta", 1000000.0},
                 {"tie_word_embeddings", true}};
  if (a.hybrid) {
    config.update({{"full_attention_interval", kAttentionInterval},
                   {"partial_rotary_factor", 0.25},
                   {"linear_num_key_heads", kGdnHeads},
                   {"linear_num_value_heads", kGdnHeads},
                   {"linear_key_head_dim", kGdnDim},
                   {"linear_value_head_dim", kGdnDim},
                   {"linear_conv_kernel_dim", kConvKernel}});
  }
  if (a.experts) {
    config.update({{"num_experts", kExperts},
                   {"num_experts_per_tok", kTopK},
                   {"moe_intermediate_size", expert_width(s)},
                   {"norm_topk_prob", true}});
    if (a.hybrid) config["shared_expert_intermediate_size"] = expert_width(s);
  }
  return config;
}

json described(const Architecture& a, const Sizes& s) {
  const auto each = [&](auto value) { return json(std::vector<decltype(value)>(s.layers, value)); };
  std::vector<std::string> kinds(s.layers, "full");
  for (int64_t i = 0; a.hybrid && i < s.layers; ++i) {
    if ((i + 1) % kAttentionInterval != 0) kinds[i] = "gdn";
  }
  json shape = plain_description(s.head_dim);
  shape.update({{"architecture", a.name},
                {"hidden", kHidden},
                {"heads", s.heads},
                {"kvHeads", s.kv_heads},
                {"headDim", s.head_dim},
                {"ffn", a.experts ? 0 : s.feed_forward},
                {"vocab", kVocab},
                {"tiedEmbeddings", true},
                {"qkNorm", a.qk_norm},
                {"outputGate", a.hybrid},
                {"unitOffsetNorm", a.hybrid},
                {"theta", 1000000.0},
                {"rotaryDim", a.hybrid ? s.head_dim / 4 : s.head_dim},
                {"layerKinds", kinds},
                {"feedForward", each(std::string(a.experts ? "moe" : "dense"))},
                {"windows", each(0)}});
  if (a.hybrid) {
    shape["gdn"] = {{"kHeads", kGdnHeads}, {"vHeads", kGdnHeads},       {"kDim", kGdnDim},
                    {"vDim", kGdnDim},     {"convKernel", kConvKernel}, {"interleaved", a.fused_projections},
                    {"tiled", false}};
  }
  if (a.experts) {
    shape["moe"] = {{"experts", kExperts},      {"topK", kTopK},
                    {"ffn", expert_width(s)},   {"sharedFfn", a.hybrid ? expert_width(s) : 0},
                    {"normalized", true},       {"biases", false},
                    {"clampedSwiglu", nullptr}, {"sharedGate", true},
                    {"sigmoid", nullptr},       {"ownNorms", false}};
  }
  return shape;
}

class TensorList {
 public:
  void plain(const std::string& name, std::vector<int64_t> dims) {
    tensors.push_back({name, std::move(dims), false});
  }
  void matrix(const std::string& name, int64_t rows, int64_t cols) {
    tensors.push_back({name + ".weight", {rows, cols}, true});
  }
  void feed_forward(const std::string& prefix, int64_t width) {
    matrix(prefix + "gate_proj", width, kHidden);
    matrix(prefix + "up_proj", width, kHidden);
    matrix(prefix + "down_proj", kHidden, width);
  }

  std::vector<TensorShape> tensors;
};

void add_attention(TensorList& list, const Architecture& a, const Sizes& s, const std::string& prefix) {
  const int64_t width = s.heads * s.head_dim;
  list.matrix(prefix + "q_proj", (a.hybrid ? 2 : 1) * width, kHidden);
  list.matrix(prefix + "k_proj", s.kv_heads * s.head_dim, kHidden);
  list.matrix(prefix + "v_proj", s.kv_heads * s.head_dim, kHidden);
  list.matrix(prefix + "o_proj", kHidden, width);
  if (!a.qk_norm) return;
  list.plain(prefix + "q_norm.weight", {s.head_dim});
  list.plain(prefix + "k_norm.weight", {s.head_dim});
}

void add_gdn(TensorList& list, const Architecture& a, const std::string& prefix) {
  if (a.fused_projections) {
    list.matrix(prefix + "in_proj_qkvz", 4 * kGdnWidth, kHidden);
    list.plain(prefix + "in_proj_ba.weight", {2 * kGdnHeads, kHidden});
  } else {
    list.matrix(prefix + "in_proj_qkv", 3 * kGdnWidth, kHidden);
    list.matrix(prefix + "in_proj_z", kGdnWidth, kHidden);
    list.plain(prefix + "in_proj_b.weight", {kGdnHeads, kHidden});
    list.plain(prefix + "in_proj_a.weight", {kGdnHeads, kHidden});
  }
  list.plain(prefix + "conv1d.weight", {3 * kGdnWidth, 1, kConvKernel});
  list.plain(prefix + "A_log", {kGdnHeads});
  list.plain(prefix + "dt_bias", {kGdnHeads});
  list.plain(prefix + "norm.weight", {kGdnDim});
  list.matrix(prefix + "out_proj", kHidden, kGdnWidth);
}

void add_feed_forward(TensorList& list, const Architecture& a, const Sizes& s, const std::string& prefix) {
  if (!a.experts) return list.feed_forward(prefix, s.feed_forward);
  list.plain(prefix + "gate.weight", {kExperts, kHidden});
  for (int64_t e = 0; e < kExperts; ++e) {
    list.feed_forward(prefix + "experts." + std::to_string(e) + ".", expert_width(s));
  }
  if (!a.hybrid) return;
  list.feed_forward(prefix + "shared_expert.", expert_width(s));
  list.plain(prefix + "shared_expert_gate.weight", {1, kHidden});
}

bool is_expert(const TensorShape& tensor) { return tensor.name.find(".experts.") != std::string::npos; }

}  // namespace

json plain_description(int64_t head_dim) {
  return {{"normEpsilon", 1e-6},
          {"qkvBias", false},
          {"outputBias", false},
          {"mlpBias", false},
          {"gdn", nullptr},
          {"moe", nullptr},
          {"windowRope", nullptr},
          {"scaling", {{"type", "none"}}},
          {"embeddingScale", 1},
          {"postNorms", false},
          {"activation", "silu"},
          {"queryScalar", head_dim},
          {"scoreCap", 0},
          {"logitCap", 0},
          {"attentionSinks", false},
          {"bidirectional", false},
          {"layerNorm", false},
          {"embeddingNorm", false},
          {"valueNorm", false},
          {"layerScalars", false},
          {"globalAttention", nullptr},
          {"sharedKv", nullptr},
          {"layerEmbeddings", nullptr},
          {"bert", nullptr}};
}

int64_t TensorShape::values() const {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

double ModelShape::share_read(int32_t sequences) const {
  double all = 0;
  double idle = 0;
  const double never_chosen = std::pow(1.0 - static_cast<double>(kTopK) / kExperts, sequences);
  for (const TensorShape& tensor : tensors) {
    const auto values = static_cast<double>(tensor.values());
    all += values;
    if (is_expert(tensor)) idle += never_chosen * values;
  }
  return 1 - idle / all;
}

double ModelShape::multiply_adds(int64_t tokens) const {
  double values = 0;
  for (const TensorShape& tensor : tensors) {
    const double chosen = is_expert(tensor) ? static_cast<double>(kTopK) / kExperts : 1;
    if (tensor.quantizable) values += chosen * static_cast<double>(tensor.values());
  }
  const auto kinds = described["layerKinds"].get<std::vector<std::string>>();
  const auto attended =
      static_cast<double>(std::ranges::count(kinds, "full") * described["heads"].get<int64_t>() *
                          described["headDim"].get<int64_t>() * 2);
  const auto all = static_cast<double>(tokens);
  return values * all + attended * all * (all + 1) / 2;
}

std::vector<std::string_view> benchmarked_architectures() {
  std::vector<std::string_view> names;
  for (const Architecture& a : kArchitectures) names.push_back(a.name);
  return names;
}

ModelShape shape_of(std::string_view architecture) {
  const auto* a = std::ranges::find(kArchitectures, architecture, &Architecture::name);
  if (a == std::end(kArchitectures)) {
    throw std::invalid_argument("There is no benchmark of " + std::string(architecture) + ".");
  }
  const Sizes s = sizes_of(*a);
  TensorList list;
  list.plain("model.embed_tokens.weight", {kVocab, kHidden});
  list.plain("model.norm.weight", {kHidden});
  for (int64_t i = 0; i < s.layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    list.plain(layer + "input_layernorm.weight", {kHidden});
    list.plain(layer + "post_attention_layernorm.weight", {kHidden});
    if (a->hybrid && (i + 1) % kAttentionInterval != 0) {
      add_gdn(list, *a, layer + "linear_attn.");
    } else {
      add_attention(list, *a, s, layer + "self_attn.");
    }
    add_feed_forward(list, *a, s, layer + "mlp.");
  }
  return {config_of(*a, s), described(*a, s), std::move(list.tensors)};
}

}  // namespace llmservice::bench
