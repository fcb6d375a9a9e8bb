// config.json and one safetensors file, streamed through a buffer of a few MiB.
#include "random_checkpoint.h"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace llmservice::bench {
namespace {

using nlohmann::json;

constexpr int64_t kHidden = 1024;
constexpr int64_t kLayers = 28;
constexpr int64_t kHeads = 16;
constexpr int64_t kKvHeads = 8;
constexpr int64_t kHeadDim = 128;
constexpr int64_t kFeedForward = 3072;
constexpr int64_t kVocab = 151936;

json config_of(WeightFormat format) {
  json config = {{"model_type", "qwen3"},
                 {"hidden_size", kHidden},
                 {"num_hidden_layers", kLayers},
                 {"num_attention_heads", kHeads},
                 {"num_key_value_heads", kKvHeads},
                 {"head_dim", kHeadDim},
                 {"intermediate_size", kFeedForward},
                 {"vocab_size", kVocab},
                 {"max_position_embeddings", 40960},
                 {"rms_norm_eps", 1e-6},
                 {"rope_theta", 1000000.0},
                 {"tie_word_embeddings", true}};
  if (format == WeightFormat::kFp8) {
    config["quantization_config"] = {{"quant_method", "fp8"},
                                     {"fmt", "e4m3"},
                                     {"weight_block_size", {128, 128}},
                                     {"modules_to_not_convert", {"lm_head", "model.embed_tokens"}}};
  }
  return config;
}

struct TensorPlan {
  std::string name;
  const char* dtype;
  std::vector<int64_t> shape;
  int64_t bytes() const {
    int64_t count = std::string(dtype) == "BF16" ? 2 : 1;
    for (const int64_t dim : shape) count *= dim;
    return count;
  }
};

std::vector<TensorPlan> plan_tensors(WeightFormat format) {
  std::vector<TensorPlan> plan = {{"model.embed_tokens.weight", "BF16", {kVocab, kHidden}},
                                  {"model.norm.weight", "BF16", {kHidden}}};
  const auto matrix = [&](const std::string& module, int64_t rows, int64_t cols) {
    const bool fp8 = format == WeightFormat::kFp8;
    plan.push_back({module + ".weight", fp8 ? "F8_E4M3" : "BF16", {rows, cols}});
    if (fp8) plan.push_back({module + ".weight_scale_inv", "BF16", {(rows + 127) / 128, (cols + 127) / 128}});
  };
  for (int64_t i = 0; i < kLayers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    for (const char* norm : {"input_layernorm", "post_attention_layernorm"}) {
      plan.push_back({layer + norm + ".weight", "BF16", {kHidden}});
    }
    for (const char* norm : {"self_attn.q_norm", "self_attn.k_norm"}) {
      plan.push_back({layer + norm + ".weight", "BF16", {kHeadDim}});
    }
    matrix(layer + "self_attn.q_proj", kHeads * kHeadDim, kHidden);
    matrix(layer + "self_attn.k_proj", kKvHeads * kHeadDim, kHidden);
    matrix(layer + "self_attn.v_proj", kKvHeads * kHeadDim, kHidden);
    matrix(layer + "self_attn.o_proj", kHidden, kHeads * kHeadDim);
    matrix(layer + "mlp.gate_proj", kFeedForward, kHidden);
    matrix(layer + "mlp.up_proj", kFeedForward, kHidden);
    matrix(layer + "mlp.down_proj", kHidden, kFeedForward);
  }
  return plan;
}

// 4 MiB of values near what trained weights have: BF16 in ±[0.008, 0.03], FP8 codes in ±[0.5, 2), scales near
// 0.01. Repeating it is as good as fresh values: nothing is cached or skipped by value.
std::string noise(const TensorPlan& tensor, std::mt19937& random) {
  std::string bytes(size_t{4} << 20, '\0');
  const bool scale = tensor.name.ends_with("_scale_inv");
  const bool norm = tensor.name.find("norm") != std::string::npos;
  for (size_t i = 0; i < bytes.size(); i += 2) {
    const uint32_t r = random();
    uint16_t bits = static_cast<uint16_t>((r & 0x8000) | (0x3c00 + (r & 0xff)));
    if (std::string(tensor.dtype) == "F8_E4M3") {
      bits = static_cast<uint16_t>((r & 0x8f8f) | 0x3030);
    } else if (scale) {
      bits = static_cast<uint16_t>(0x3c20 + (r & 0x1f));
    } else if (norm) {
      bits = 0x3f80;
    }
    bytes[i] = static_cast<char>(bits);
    bytes[i + 1] = static_cast<char>(bits >> 8);
  }
  return bytes;
}

void write_weights(const std::filesystem::path& path, const std::vector<TensorPlan>& plan) {
  json header;
  int64_t offset = 0;
  for (const TensorPlan& tensor : plan) {
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, offset + tensor.bytes()}}};
    offset += tensor.bytes();
  }
  std::ofstream file(path, std::ios::binary);
  const std::string text = header.dump();
  const uint64_t length = text.size();
  file.write(reinterpret_cast<const char*>(&length), sizeof(length));
  file << text;
  std::mt19937 random(1);
  for (const TensorPlan& tensor : plan) {
    const std::string values = noise(tensor, random);
    for (int64_t left = tensor.bytes(); left > 0; left -= static_cast<int64_t>(values.size())) {
      file.write(values.data(), std::min<int64_t>(left, static_cast<int64_t>(values.size())));
    }
  }
  if (!file.flush()) {
    throw std::runtime_error("Writing " + path.string() + " failed: about 1.2 GB of free disk are needed.");
  }
}

}  // namespace

RandomCheckpoint::RandomCheckpoint(WeightFormat format) {
  std::string name = (std::filesystem::temp_directory_path() / "llmservice-bench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("No temporary folder can be made at " + name + ".");
  dir_ = name;
  try {
    std::ofstream(dir_ / "config.json") << config_of(format).dump(2);
    write_weights(dir_ / "model.safetensors", plan_tensors(format));
  } catch (...) {
    std::filesystem::remove_all(dir_);
    throw;
  }
}

RandomCheckpoint::~RandomCheckpoint() {
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

}  // namespace llmservice::bench
