// The header of a GGUF file: a few counts, key-value metadata, and where each tensor lies. All of it is
// untrusted: every count and length is held against the file's size, or a limit, before memory is taken.
// Format: github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <map>
#include <string>
#include <variant>

#include "model/safetensors.h"
#include "ops/ops.h"

namespace llmservice {

using GgufValue = std::variant<bool, int64_t, double, std::string>;

struct GgufHeader {
  // Numbers, flags and short texts. Arrays and long texts, which the tokenizer needs, are passed over.
  std::map<std::string, GgufValue> values;
  // Shapes are row-major, outermost first. dtype is the name that GGUF tools use; of a type that the engine
  // does not read, bytes is 0.
  std::map<std::string, TensorEntry> tensors;
};

// `read` fills from an offset of the file, whose name is for messages. Throws CheckpointCorrupt naming the
// key or tensor that is malformed or reaches outside the file.
GgufHeader parse_gguf_header(const TensorReader& read, uint64_t file_bytes, const std::string& file);

}  // namespace llmservice
