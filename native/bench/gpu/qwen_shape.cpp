#include "qwen_shape.h"

namespace llmservice::bench {
namespace {

constexpr int64_t kConvKernel = 4;
constexpr int64_t kAttentionInterval = 4;

class QwenTensors {
 public:
  explicit QwenTensors(const QwenSizes& sizes) : s_(sizes) {}

  void plain(const std::string& name, std::vector<int64_t> dims, bool f32 = false) {
    list.push_back({name, std::move(dims), false, f32});
  }
  void matrix(const std::string& module, int64_t rows, int64_t cols) {
    list.push_back({module + ".weight", {rows, cols}, true});
  }

  void layer(const std::string& at, bool attends) {
    plain(at + "input_layernorm.weight", {s_.hidden});
    plain(at + "post_attention_layernorm.weight", {s_.hidden});
    attends ? attention(at + "self_attn.") : gated_delta(at + "linear_attn.");
    matrix(at + "mlp.gate_proj", s_.feed_forward, s_.hidden);
    matrix(at + "mlp.up_proj", s_.feed_forward, s_.hidden);
    matrix(at + "mlp.down_proj", s_.hidden, s_.feed_forward);
  }

  std::vector<TensorShape> list;

 private:
  void attention(const std::string& at) {
    matrix(at + "q_proj", 2 * s_.heads * s_.head_dim, s_.hidden);
    matrix(at + "k_proj", s_.kv_heads * s_.head_dim, s_.hidden);
    matrix(at + "v_proj", s_.kv_heads * s_.head_dim, s_.hidden);
    matrix(at + "o_proj", s_.hidden, s_.heads * s_.head_dim);
    plain(at + "q_norm.weight", {s_.head_dim});
    plain(at + "k_norm.weight", {s_.head_dim});
  }

  void gated_delta(const std::string& at) {
    matrix(at + "in_proj_qkv", s_.channels(), s_.hidden);
    matrix(at + "in_proj_z", s_.v_width(), s_.hidden);
    plain(at + "in_proj_b.weight", {s_.v_heads, s_.hidden});
    plain(at + "in_proj_a.weight", {s_.v_heads, s_.hidden});
    plain(at + "conv1d.weight", {s_.channels(), 1, kConvKernel});
    plain(at + "A_log", {s_.v_heads}, true);
    plain(at + "dt_bias", {s_.v_heads});
    plain(at + "norm.weight", {s_.gdn_dim}, true);
    matrix(at + "out_proj", s_.hidden, s_.v_width());
  }

  const QwenSizes& s_;
};

nlohmann::json config_of(const QwenSizes& s) {
  return {{"model_type", "qwen3_5"},
          {"architectures", {"Qwen3_5ForConditionalGeneration"}},
          {"tie_word_embeddings", false},
          {"text_config",
           {{"model_type", "qwen3_5_text"},
            {"num_hidden_layers", s.layers},
            {"full_attention_interval", kAttentionInterval},
            {"hidden_size", s.hidden},
            {"num_attention_heads", s.heads},
            {"num_key_value_heads", s.kv_heads},
            {"head_dim", s.head_dim},
            {"intermediate_size", s.feed_forward},
            {"vocab_size", s.vocab},
            {"max_position_embeddings", 262144},
            {"rms_norm_eps", 1e-6},
            {"rope_parameters",
             {{"rope_type", "default"}, {"rope_theta", 10000000.0}, {"partial_rotary_factor", 0.25}}},
            {"linear_num_key_heads", s.k_heads},
            {"linear_num_value_heads", s.v_heads},
            {"linear_key_head_dim", s.gdn_dim},
            {"linear_value_head_dim", s.gdn_dim},
            {"linear_conv_kernel_dim", kConvKernel}}}};
}

nlohmann::json described(const QwenSizes& s) {
  std::vector<std::string> kinds(s.layers, "gdn");
  for (int64_t i = kAttentionInterval - 1; i < s.layers; i += kAttentionInterval) kinds[i] = "full";
  nlohmann::json shape = plain_description(s.head_dim);
  shape.update({{"architecture", "qwen3_5"},
                {"hidden", s.hidden},
                {"heads", s.heads},
                {"kvHeads", s.kv_heads},
                {"headDim", s.head_dim},
                {"ffn", s.feed_forward},
                {"vocab", s.vocab},
                {"tiedEmbeddings", false},
                {"qkNorm", true},
                {"outputGate", true},
                {"unitOffsetNorm", true},
                {"theta", 10000000.0},
                {"rotaryDim", s.head_dim / 4},
                {"layerKinds", kinds},
                {"feedForward", std::vector<std::string>(s.layers, "dense")},
                {"windows", std::vector<int32_t>(s.layers, 0)},
                {"gdn",
                 {{"kHeads", s.k_heads},
                  {"vHeads", s.v_heads},
                  {"kDim", s.gdn_dim},
                  {"vDim", s.gdn_dim},
                  {"convKernel", kConvKernel},
                  {"interleaved", false},
                  {"tiled", false}}}});
  return shape;
}

}  // namespace

ModelShape qwen_shape(const QwenSizes& s) {
  const std::string prefix = "model.language_model.";
  QwenTensors tensors(s);
  tensors.plain(prefix + "embed_tokens.weight", {s.vocab, s.hidden});
  for (int64_t i = 0; i < s.layers; ++i) {
    tensors.layer(prefix + "layers." + std::to_string(i) + ".", (i + 1) % kAttentionInterval == 0);
  }
  tensors.plain(prefix + "norm.weight", {s.hidden});
  tensors.plain("lm_head.weight", {s.vocab, s.hidden});
  tensors.plain("mtp.fc.weight", {s.hidden, 2 * s.hidden});
  for (const char* norm : {"pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm"}) {
    tensors.plain(std::string("mtp.") + norm + ".weight", {s.hidden});
  }
  tensors.layer("mtp.layers.0.", true);
  return {config_of(s), described(s), std::move(tensors.list)};
}

}  // namespace llmservice::bench
