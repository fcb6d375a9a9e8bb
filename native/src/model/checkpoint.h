// All tensors of a checkpoint, open to be read.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/arrivals.h"
#include "model/checkpoint_source.h"
#include "model/fused_experts.h"
#include "model/packed_tensor.h"
#include "model/stored_file.h"
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
  bool derived;              // its bytes are made from others, for which `file` waits itself
  bool quantizable;          // as in TensorPlace
  const Arrivals* arrivals;  // null: the file is complete

  // Fills `out` from `offset` of the tensor's data, waiting for what still arrives; refuses FP8 NaN bytes and
  // blocks whose scale is no number.
  void read(uint64_t offset, std::span<std::byte> out) const;
  // As that of the file. Nothing for bytes that are made from others or still arrive.
  void announce(uint64_t offset, uint64_t bytes) const;
};

// "[2, 3]", for messages.
std::string to_text(const std::vector<int64_t>& shape);

class Checkpoint {
 public:
  // `source` outlives it. Throws CheckpointIncomplete for a file that is not there, and as restored_tensor
  // and rounds_by_rank do. Reads of weights that still arrive wait for `arrivals`.
  explicit Checkpoint(const CheckpointSource& source, const Arrivals* arrivals = nullptr, int32_t ranks = 1);

  bool has(const std::string& name) const { return where_.contains(name); }
  // All tensors, in the order of their names.
  std::vector<std::string> names() const;
  // Dimensions of tensor `name`, which must be there; its type may be any.
  size_t rank(const std::string& name) const { return where_.at(name).place->shape.size(); }
  // Throws CheckpointIncomplete when there is no such tensor, UnsupportedQuantization for a type that we do
  // not read.
  Tensor tensor(const std::string& name) const;
  // As above, and CheckpointCorrupt when the shape is another.
  Tensor tensor(const std::string& name, const std::vector<int64_t>& shape) const;
  // The values of a tensor (count) of integers. Throws as above, and UnsupportedQuantization for another type
  // than I64.
  std::vector<int64_t> integers(const std::string& name, int64_t count) const;
  // Stored bytes of all tensors whose name `wanted` accepts.
  uint64_t bytes_of(const std::function<bool(const std::string&)>& wanted) const;

 private:
  const TensorFile& open(const CheckpointSource& source, const std::string& name);
  struct Opened {
    const TensorFile* file;
    const TensorPlace* place;
    bool derived;  // as in Tensor
  };
  Opened open(const CheckpointSource& source, const TensorPlace& place, int32_t ranks);
  // What `opened` is made into, which waits for what `opened` does not wait for itself.
  template <class Derive>
  void derive(Opened& opened, Derive derive);

  const Arrivals* arrivals_;
  std::unordered_map<std::string, std::unique_ptr<TensorFile>> files_;
  std::vector<std::unique_ptr<TensorFile>> restored_;
  std::shared_ptr<UnpackedRows> unpacked_ = std::make_shared<UnpackedRows>();
  std::unique_ptr<TurnedExpert> turned_ = std::make_unique<TurnedExpert>();
  std::unordered_map<std::string, Opened> where_;
};

}  // namespace llmservice
