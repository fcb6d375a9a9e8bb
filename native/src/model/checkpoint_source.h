// What is passed of a checkpoint, so that neither config.json nor a header is parsed here: the model, and
// where each tensor lies. The package that reads checkpoints writes it, for the memory plan and for the
// engine alike.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/config.h"

namespace llmservice {

// What unquantized matrices become while they are read (load_quantizer.h).
enum class LoadQuantization : uint8_t { kNone, kFp8, kInt8 };

// What a converter did to a tensor's values, which reading undoes (restored_tensor.h).
enum class Restoration : uint8_t { kNone, kHalvedRows, kLogOfDecay };

struct TensorPlace {
  std::string name;
  std::string file;         // in the checkpoint's folder
  std::string stored_name;  // in that file, for messages
  std::string dtype;        // as safetensors and GGUF tools call it: "BF16", "F8_E4M3", ...
  std::vector<int64_t> shape;
  uint64_t offset;  // from the start of the file
  uint64_t bytes;
  Restoration restoration = Restoration::kNone;
  bool quantizable = false;  // may become what CheckpointSource::quantization says
};

struct CheckpointSource {
  std::filesystem::path dir;
  ModelConfig config;
  LoadQuantization quantization = LoadQuantization::kNone;
  std::vector<TensorPlace> tensors;
};

// Reads the JSON that native/ts/describe-checkpoint.ts writes. Throws std::invalid_argument naming the field
// for anything else, unknown fields included: both are built together.
CheckpointSource parse_checkpoint_source(std::string_view json);

}  // namespace llmservice
