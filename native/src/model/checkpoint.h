// All tensors of a checkpoint, whether in one safetensors file, in shards with an index, or in a GGUF file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/arrivals.h"
#include "model/safetensors.h"
#include "ops/ops.h"

namespace llmservice {

// A tensor of a type that the engine computes with, and where it lies.
struct Tensor {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  uint64_t offset;
  uint64_t bytes;
  const TensorFile* file;
  bool derived;              // any byte may be made from any other of the tensor's
  const Arrivals* arrivals;  // null: the file is complete

  // Fills `out` from `offset` of the tensor's data, waiting for what still arrives; refuses FP8 NaN bytes and
  // blocks whose scale is no number.
  void read(uint64_t offset, std::span<std::byte> out) const;
};

// "[2, 3]", for messages.
std::string to_text(const std::vector<int64_t>& shape);

class Checkpoint {
 public:
  // `dir` is a folder, or a GGUF file. Throws CheckpointIncomplete naming the files that are not there,
  // CheckpointCorrupt for a bad header or index, and as read_gguf_tensors does. Of weights that still arrive
  // the headers must be there; reads wait for `arrivals`.
  explicit Checkpoint(const std::filesystem::path& dir, const Arrivals* arrivals = nullptr);

  bool has(const std::string& name) const { return where_.contains(name); }
  // All tensors, in the order of their names.
  std::vector<std::string> names() const;
  // Dimensions of tensor `name`, which must be there; its type may be any.
  size_t rank(const std::string& name) const { return where_.at(name).entry.shape.size(); }
  // Throws CheckpointIncomplete when there is no such tensor, UnsupportedQuantization for a type that we do
  // not read.
  Tensor tensor(const std::string& name) const;
  // As above, and CheckpointCorrupt when the shape is another.
  Tensor tensor(const std::string& name, const std::vector<int64_t>& shape) const;
  // Stored bytes of all tensors whose name `wanted` accepts.
  uint64_t bytes_of(const std::function<bool(const std::string&)>& wanted) const;

 private:
  void open_shards(const std::filesystem::path& dir, const std::filesystem::path& index);
  void add_file(const std::filesystem::path& path);
  void add_gguf(const std::filesystem::path& path);

  struct Place {
    const TensorFile* file;
    TensorEntry entry;
  };
  const Arrivals* arrivals_;
  std::vector<std::unique_ptr<TensorFile>> files_;
  std::unordered_map<std::string, Place> where_;
};

}  // namespace llmservice
