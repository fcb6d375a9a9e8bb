// One safetensors file: 8 bytes of header length (little endian), a JSON header, then raw tensor data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmservice {

struct TensorEntry {
  std::string dtype;  // as written: "BF16", "F8_E4M3", ...
  std::vector<int64_t> shape;
  uint64_t offset;  // from the start of the file
  uint64_t bytes;
};

// Parses a header; `data_start` is where tensor data begins, `file_bytes` the length of the file, `file` its
// name for messages. Throws CheckpointCorrupt when a field is malformed or reaches outside the file.
std::map<std::string, TensorEntry> parse_safetensors_header(std::string_view json, uint64_t data_start,
                                                            uint64_t file_bytes, const std::string& file);

// An open file with its tensors. Reads are thread-safe.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const std::string& name() const { return name_; }
  const std::map<std::string, TensorEntry>& tensors() const { return tensors_; }
  // Fills `out` from `offset` of the file. Throws CheckpointCorrupt on a short read.
  void read(uint64_t offset, std::span<std::byte> out) const;

 private:
  std::string name_;
  int fd_;
  std::map<std::string, TensorEntry> tensors_;
};

}  // namespace llmservice
