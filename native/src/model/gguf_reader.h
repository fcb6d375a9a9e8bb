// Reads numbers and texts of a GGUF header one after the other, a window of the file at a time. No length is
// believed: each is held against the file's size before memory is taken. checkpoint/src/formats/gguf-reader.ts does the
// same.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ops/ops.h"

namespace llmservice {

// Every method names `what` it was to read when the file is malformed, and throws CheckpointCorrupt.
class GgufReader {
 public:
  // `read` fills from an offset of the file; both it and the file's name must outlive the reader.
  GgufReader(const TensorReader& read, uint64_t file_bytes, const std::string& file)
      : read_(read), end_(file_bytes), file_(file) {}

  uint64_t at() const { return at_; }
  uint64_t end() const { return end_; }
  uint64_t left() const { return end_ - at_; }

  [[noreturn]] void corrupt(const std::string& problem) const;

  // Makes sure that `count` more bytes are there.
  void need(uint64_t count, const std::string& what) const;

  template <class T>
  T number(const std::string& what) {
    T value;
    take(std::as_writable_bytes(std::span(&value, 1)), what);
    return value;
  }
  std::string text(uint64_t length, const std::string& what);
  // A text of 1 to 1024 bytes behind its length.
  std::string name(const std::string& what);
  void skip(uint64_t count, const std::string& what);

 private:
  void take(std::span<std::byte> out, const std::string& what);

  const TensorReader& read_;
  uint64_t end_;
  const std::string& file_;
  uint64_t at_ = 0;
  std::vector<std::byte> window_;
  uint64_t window_at_ = 0;
};

}  // namespace llmservice
