// How one matrix is stored: the tensors that belong to it, found by name, and what their types and shapes
// say. They alone decide the format; a config.json that says otherwise is an error.
#pragma once

#include <optional>
#include <string>

#include "model/checkpoint.h"
#include "ops/dtype.h"

namespace llmservice {

// Rows and columns of a block of e4m3 codes with one scale.
constexpr int64_t kScaleBlock = 128;
constexpr int64_t blocks_of(int64_t count) { return (count + kScaleBlock - 1) / kScaleBlock; }

// Which of several equal matrices, stacked in one tensor along its first axis.
struct StackPlace {
  int64_t index;
  int64_t count;
};

struct StoredWeight {
  Tensor weight;  // (rows, cols), kF4E2M1: (rows, cols / 2) bytes
  int64_t rows;
  int64_t cols;
  // Quantized types: one scale (no or one dimension of 1), one per row (rows, 1) or per block
  // (ceil(rows/128), ceil(cols/128)). kI8: one per row. kF4E2M1: e4m3, one per 16 columns (rows, cols / 16).
  std::optional<Tensor> scale;
  Scaling scaling = Scaling::kBlock;
  // kF4E2M1: one float for the whole tensor. modelopt's multiplies; that of compressed-tensors divides.
  std::optional<Tensor> global_scale;
  bool divides = false;

  // True when `scale` holds one value for the whole tensor.
  bool one_scale() const { return scale->bytes == static_cast<uint64_t>(size_of(scale->dtype)); }
};

// The matrix of `module` (tensor module.weight), or one of the stack `module` (the tensor itself), whose
// shape is whatever is stored. Throws CheckpointIncomplete, CheckpointCorrupt or UnsupportedQuantization with
// the tensor's name, what was expected and what was found.
StoredWeight stored_weight(const Checkpoint& checkpoint, const std::string& module,
                           std::optional<StackPlace> stack = std::nullopt);

// The same for every matrix of the text model, before any memory is taken for one.
void check_stored_weights(const Checkpoint& checkpoint);

}  // namespace llmservice
