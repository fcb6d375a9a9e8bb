// An open GGUF file, and which one a model's path means.
#pragma once

#include <optional>

#include "model/gguf_header.h"

namespace llmservice {

class GgufFile final : public StoredFile {
 public:
  explicit GgufFile(const std::filesystem::path& path)
      : StoredFile(path),
        header_(parse_gguf_header([this](uint64_t at, std::span<std::byte> out) { read(at, out); }, bytes(),
                                  name())) {}
  const GgufHeader& header() const { return header_; }

 private:
  GgufHeader header_;
};

// The file itself, or the only .gguf file of a folder that holds no safetensors; else nothing. Throws
// CheckpointIncomplete where the folder holds several.
std::optional<std::filesystem::path> find_gguf(const std::filesystem::path& model);

}  // namespace llmservice
