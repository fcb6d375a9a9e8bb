// Small checkpoints with seeded random weights in a temporary folder, and prompts for them.
#pragma once

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "model/checkpoint_source.h"
#include "ops/dtype.h"

namespace llmservice::testing {

// A folder that goes when the object goes, and the checkpoint that write_checkpoint() put there last.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "llmservice-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
  }

  void keep(CheckpointSource source) { source_ = std::move(source); }
  std::shared_ptr<const CheckpointSource> checkpoint(
      LoadQuantization quantization = LoadQuantization::kNone) const {
    auto source = std::make_shared<CheckpointSource>(source_);
    source->quantization = quantization;
    return source;
  }

 private:
  std::filesystem::path path_;
  CheckpointSource source_{};
};

struct StoredTensor {
  std::string dtype;
  std::vector<int64_t> shape;
  std::string bytes;
};
using Tensors = std::map<std::string, StoredTensor>;

constexpr const char* kWeightsFile = "model.safetensors";

// The data of all tensors, one after the other, and where each lies in it.
std::string to_data(const Tensors& tensors, std::vector<TensorPlace>* places);

// Uniform in center ± spread, stored as BF16.
StoredTensor bf16_tensor(std::vector<int64_t> shape, float center, float spread, std::mt19937& random);

ModelConfig tiny_llama_config();

// One Gated DeltaNet layer and one attention layer.
ModelConfig tiny_hybrid_config();

Tensors tiny_llama_tensors(uint32_t seed = 1);

Tensors tiny_hybrid_tensors(uint32_t seed = 1);
// Makes its heads of Gated DeltaNet those of published models: 128 keys and values, two V heads to a K head.
void widen_heads(ModelConfig& config, Tensors& tensors);

// With all that sets Gemma 2 and 3 apart: caps that bite, a window with angles of its own, norms behind
// attention and feed-forward.
ModelConfig tiny_gemma_config();

Tensors tiny_gemma_tensors(uint32_t seed = 1);

// Tokens of the tiny models' vocabulary; prompts of one salt begin alike.
std::vector<int32_t> prompt(int32_t length, int32_t salt = 0);

void write_checkpoint(TempDir& dir, const ModelConfig& config, const Tensors& tensors);

}  // namespace llmservice::testing
