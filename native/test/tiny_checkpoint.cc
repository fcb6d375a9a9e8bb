// The tiny checkpoints' tensors and configurations, compiled once for all tests.
#include "tiny_checkpoint.h"

namespace llmservice::testing {
namespace {

constexpr GdnConfig tiny_gdn = {.k_heads = 2, .v_heads = 4, .k_dim = 16, .v_dim = 16, .conv_kernel = 4};

// Of a layer behind 64 features. `spread`: of what it gives back.
void add_gdn(Tensors& t, const std::string& layer, const GdnConfig& gdn, float spread, std::mt19937& random) {
  const int64_t values = int64_t{gdn.v_heads} * gdn.v_dim;
  const int64_t channels = int64_t{2} * gdn.k_heads * gdn.k_dim + values;
  t[layer + "in_proj_qkv.weight"] = bf16_tensor({channels, 64}, 0, 0.3F, random);
  t[layer + "in_proj_z.weight"] = bf16_tensor({values, 64}, 0, 0.3F, random);
  t[layer + "in_proj_b.weight"] = bf16_tensor({gdn.v_heads, 64}, 0, 0.3F, random);
  t[layer + "in_proj_a.weight"] = bf16_tensor({gdn.v_heads, 64}, 0, 0.3F, random);
  t[layer + "conv1d.weight"] = bf16_tensor({channels, 1, gdn.conv_kernel}, 0, 0.5F, random);
  t[layer + "A_log"] = bf16_tensor({gdn.v_heads}, -3, 2, random);
  t[layer + "dt_bias"] = bf16_tensor({gdn.v_heads}, -1, 1, random);
  t[layer + "norm.weight"] = bf16_tensor({gdn.v_dim}, 1, 0.1F, random);
  t[layer + "out_proj.weight"] = bf16_tensor({64, values}, 0, spread, random);
}

}  // namespace

std::string to_data(const Tensors& tensors, std::vector<TensorPlace>* places) {
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    places->push_back({.name = name,
                       .file = kWeightsFile,
                       .stored_name = name,
                       .dtype = tensor.dtype,
                       .shape = tensor.shape,
                       .offset = data.size(),
                       .bytes = tensor.bytes.size(),
                       .quantizable = name.find("_proj") != std::string::npos});
    data += tensor.bytes;
  }
  return data;
}

StoredTensor bf16_tensor(std::vector<int64_t> shape, float center, float spread, std::mt19937& random) {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  std::uniform_real_distribution<float> uniform(center - spread, center + spread);
  std::string bytes(count * 2, '\0');
  for (int64_t i = 0; i < count; ++i) {
    const uint16_t bits = float_to_bf16(uniform(random));
    std::memcpy(bytes.data() + 2 * i, &bits, 2);
  }
  return {"BF16", std::move(shape), std::move(bytes)};
}

ModelConfig tiny_llama_config() {
  return {.architecture = "llama",
          .hidden = 64,
          .heads = 4,
          .kv_heads = 2,
          .head_dim = 16,
          .intermediate = 96,
          .vocab = 211,
          .norm_eps = 1e-6F,
          .tied_head = true,
          .qkv_bias = false,
          .output_bias = false,
          .mlp_bias = false,
          .qk_norm = false,
          .output_gate = false,
          .unit_offset_norm = false,
          .rope = {.theta = 10000, .rotary = 16, .scaling = {}},
          .layers = {LayerKind::kAttention, LayerKind::kAttention},
          .feed_forward = {FeedForwardKind::kDense, FeedForwardKind::kDense},
          .windows = {0, 0},
          .gdn = {},
          .moe = {},
          .window_rope = {}};
}

ModelConfig tiny_hybrid_config() {
  ModelConfig config = tiny_llama_config();
  config.architecture = "qwen3_5";
  config.qk_norm = true;
  config.output_gate = true;
  config.unit_offset_norm = true;
  config.rope.rotary = 4;
  config.layers = {LayerKind::kGdn, LayerKind::kAttention};
  config.gdn = tiny_gdn;
  return config;
}

Tensors tiny_llama_tensors(uint32_t seed) {
  std::mt19937 random(seed);
  Tensors t;
  t["model.embed_tokens.weight"] = bf16_tensor({211, 64}, 0, 1, random);
  t["model.norm.weight"] = bf16_tensor({64}, 1, 0.1F, random);
  for (const char* layer : {"model.layers.0.", "model.layers.1."}) {
    const std::string p = layer;
    t[p + "input_layernorm.weight"] = bf16_tensor({64}, 1, 0.1F, random);
    t[p + "post_attention_layernorm.weight"] = bf16_tensor({64}, 1, 0.1F, random);
    t[p + "self_attn.q_proj.weight"] = bf16_tensor({64, 64}, 0, 0.3F, random);
    t[p + "self_attn.k_proj.weight"] = bf16_tensor({32, 64}, 0, 0.3F, random);
    t[p + "self_attn.v_proj.weight"] = bf16_tensor({32, 64}, 0, 0.3F, random);
    t[p + "self_attn.o_proj.weight"] = bf16_tensor({64, 64}, 0, 0.3F, random);
    t[p + "mlp.gate_proj.weight"] = bf16_tensor({96, 64}, 0, 0.3F, random);
    t[p + "mlp.up_proj.weight"] = bf16_tensor({96, 64}, 0, 0.3F, random);
    t[p + "mlp.down_proj.weight"] = bf16_tensor({64, 96}, 0, 0.3F, random);
  }
  return t;
}

Tensors tiny_hybrid_tensors(uint32_t seed) {
  std::mt19937 random(seed);
  const std::string root = "model.language_model.";
  Tensors t;
  for (const auto& [name, tensor] : tiny_llama_tensors(seed)) {
    if (name.find("self_attn") == std::string::npos) t[root + name.substr(6)] = tensor;
  }
  add_gdn(t, root + "layers.0.linear_attn.", tiny_gdn, 0.3F, random);
  const std::string attention = root + "layers.1.self_attn.";
  t[attention + "q_proj.weight"] = bf16_tensor({128, 64}, 0, 0.3F, random);
  t[attention + "k_proj.weight"] = bf16_tensor({32, 64}, 0, 0.3F, random);
  t[attention + "v_proj.weight"] = bf16_tensor({32, 64}, 0, 0.3F, random);
  t[attention + "o_proj.weight"] = bf16_tensor({64, 64}, 0, 0.3F, random);
  t[attention + "q_norm.weight"] = bf16_tensor({16}, 0, 0.1F, random);
  t[attention + "k_norm.weight"] = bf16_tensor({16}, 0, 0.1F, random);
  // Present in releases, used by nobody here.
  t["model.visual.blocks.0.attn.weight"] = {"I64", {1}, std::string(8, '\1')};
  t["mtp.fc.weight"] = bf16_tensor({64, 128}, 0, 0.3F, random);
  return t;
}

void widen_heads(ModelConfig& config, Tensors& tensors) {
  std::mt19937 random(2);
  config.gdn = {.k_heads = 1, .v_heads = 2, .k_dim = 128, .v_dim = 128, .conv_kernel = 4};
  add_gdn(tensors, "model.language_model.layers.0.linear_attn.", *config.gdn, 0.15F, random);
}

ModelConfig tiny_gemma_config() {
  ModelConfig config = tiny_llama_config();
  config.architecture = "gemma2";
  config.unit_offset_norm = true;
  config.qk_norm = true;
  config.windows = {24, 0};
  config.window_rope = RopeConfig{.theta = 100, .rotary = 16, .scaling = {}};
  config.embedding_scale = 8;
  config.post_norms = true;
  config.activation = Activation::kGelu;
  config.query_scalar = 4;
  config.score_cap = 2;
  config.logit_cap = 5;
  return config;
}

Tensors tiny_gemma_tensors(uint32_t seed) {
  std::mt19937 random(seed);
  Tensors t;
  for (const auto& [name, tensor] : tiny_llama_tensors(seed)) {
    if (!name.ends_with("norm.weight")) t[name] = tensor;
  }
  t["model.norm.weight"] = bf16_tensor({64}, 0, 0.3F, random);
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    for (const char* norm : {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                             "post_feedforward_layernorm"}) {
      t[layer + norm + ".weight"] = bf16_tensor({64}, 0, 0.3F, random);
    }
    t[layer + "self_attn.q_norm.weight"] = bf16_tensor({16}, 0, 0.3F, random);
    t[layer + "self_attn.k_norm.weight"] = bf16_tensor({16}, 0, 0.3F, random);
  }
  return t;
}

std::vector<int32_t> prompt(int32_t length, int32_t salt) {
  std::vector<int32_t> tokens(length);
  for (int32_t i = 0; i < length; ++i) tokens[i] = (i * 31 + salt * 17 + 5) % 211;
  return tokens;
}

void write_checkpoint(TempDir& dir, const ModelConfig& config, const Tensors& tensors) {
  CheckpointSource source{.dir = dir.path(), .config = config, .tensors = {}};
  dir.write(kWeightsFile, to_data(tensors, &source.tensors));
  dir.keep(std::move(source));
}

}  // namespace llmservice::testing
