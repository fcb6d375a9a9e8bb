// Typed access to a GGUF file's metadata: each miss names the key and what it should hold.
#pragma once

#include "model/gguf_file.h"

namespace llmservice {

class GgufKeys {
 public:
  // Throws UnsupportedArchitecture when the file has none of the architectures that are read.
  explicit GgufKeys(const GgufFile& file);

  // "llama", "qwen3", "qwen3moe", "qwen35" or "qwen35moe".
  const std::string& architecture() const { return architecture_; }
  bool hybrid() const { return architecture_.starts_with("qwen35"); }
  bool sparse() const { return architecture_.ends_with("moe"); }

  // Keys of the architecture, without its name and the dot.
  bool has(const char* key) const { return find(key) != nullptr; }
  int64_t count(const char* key) const;
  int64_t count_or(const char* key, int64_t otherwise) const { return has(key) ? count(key) : otherwise; }
  double number_or(const char* key, double otherwise) const;
  bool flag_or(const char* key, bool otherwise) const;
  std::string text_or(const char* key, const char* otherwise) const;

  // Layers of the model itself, without those that only draft tokens.
  int64_t layers() const;

  [[noreturn]] void fail(const char* key, const std::string& what) const;
  [[noreturn]] void unsupported(const std::string& what) const;

 private:
  const GgufValue* find(const char* key) const;

  const GgufFile& file_;
  std::string architecture_;
};

}  // namespace llmservice
