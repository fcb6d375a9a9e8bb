// From a GGUF file's metadata to the configuration of its model.
#pragma once

#include "model/config.h"
#include "model/gguf_file.h"

namespace llmservice {

// Throws UnsupportedArchitecture or CheckpointCorrupt naming the key.
// crds/src/gguf-config.ts reads the same keys for the plan.
ModelConfig read_gguf_config(const std::filesystem::path& path);

}  // namespace llmservice
