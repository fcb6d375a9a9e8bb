// The tensors of a GGUF file under the names and in the form that a checkpoint in safetensors has them, so
// that nothing that reads weights knows of GGUF.
#pragma once

#include <memory>

#include "model/gguf_file.h"

namespace llmservice {

struct GgufTensors {
  struct Item {
    std::string name;
    TensorEntry entry;
    const TensorFile* file;
  };
  std::vector<Item> tensors;
  std::vector<std::unique_ptr<TensorFile>> files;  // what the items point to
};

// Throws UnsupportedArchitecture for a tensor that the architecture does not have here,
// UnsupportedQuantization for one of a type that is not read, and as GgufFile and GgufKeys do.
// crds/src/gguf-tensors.ts has the same names.
GgufTensors read_gguf_tensors(const std::filesystem::path& path);

}  // namespace llmservice
