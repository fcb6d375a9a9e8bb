// Where the bytes of tensors come from: a file of a checkpoint, or what makes another tensor out of one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace llmservice {

class TensorFile {
 public:
  virtual ~TensorFile() = default;
  // For messages.
  virtual const std::string& name() const = 0;
  // Fills `out` from `offset`. Throws CheckpointCorrupt on a short read. Thread-safe.
  virtual void read(uint64_t offset, std::span<std::byte> out) const = 0;
  // Says that bytes from `offset` are about to be read in small pieces. Thread-safe; never fails.
  virtual void announce(uint64_t /*offset*/, uint64_t /*bytes*/) const {}
  // For each column of a matrix that reading brings, the one of the model's; empty: the same.
  virtual std::vector<int32_t> column_order() const { return {}; }
};

// An open file.
class StoredFile : public TensorFile {
 public:
  // Throws CheckpointIncomplete when it cannot be opened.
  explicit StoredFile(const std::filesystem::path& path);
  ~StoredFile() override;
  StoredFile(const StoredFile&) = delete;
  StoredFile& operator=(const StoredFile&) = delete;

  const std::string& name() const override { return name_; }
  uint64_t bytes() const { return bytes_; }
  void read(uint64_t offset, std::span<std::byte> out) const override;
  // The kernel fetches them in one run; what it has in memory, and file systems in memory, cost one call.
  void announce(uint64_t offset, uint64_t bytes) const override;

 private:
  std::string name_;
  int fd_;
  uint64_t bytes_ = 0;
};

}  // namespace llmservice
