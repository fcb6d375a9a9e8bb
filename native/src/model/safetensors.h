// One safetensors file: 8 bytes of header length (little endian), a JSON header, then raw tensor data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/stored_file.h"

namespace llmservice {

struct TensorEntry {
  std::string dtype;  // as written: "BF16", "F8_E4M3", ...
  std::vector<int64_t> shape;
  uint64_t offset;  // from the start of the file
  uint64_t bytes;
  std::string stored_name = {};  // where the file has another name for it
  bool derived = false;          // its bytes are made from those that lie here
};

// Parses a header; `data_start` is where tensor data begins, `file_bytes` the length of the file, `file` its
// name for messages. Throws CheckpointCorrupt when a field is malformed or reaches outside the file.
std::map<std::string, TensorEntry> parse_safetensors_header(std::string_view json, uint64_t data_start,
                                                            uint64_t file_bytes, const std::string& file);

// An open file with its tensors.
class SafetensorsFile final : public StoredFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::map<std::string, TensorEntry>& tensors() const { return tensors_; }

 private:
  std::map<std::string, TensorEntry> tensors_;
};

}  // namespace llmservice
