// Experts as gpt_oss stores them, read as others are: matrices (experts, rows, columns) with gate over up.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "model/checkpoint_source.h"
#include "model/derived_tensor.h"

namespace llmservice {

// The matrix of an expert that was turned last: what reads it asks for its rows one after the other.
struct TurnedExpert {
  std::mutex mutex;
  const void* tensor = nullptr;  // of which it is one
  uint64_t index = 0;
  std::vector<std::byte> stored;
  std::vector<std::byte> rows;
};

// `place` of `file`, whose shape is that of what is read. Where it has scales, in `scales`: codes (experts,
// rows, columns / 32, 16), two to a byte, the lower column in the low nibble, and scales (experts, rows,
// columns / 32), read as blocks of MXFP4. Else matrices (experts, columns, rows), or biases (experts, rows).
// kPairedExperts: rows of gate and up alternate. kBlocks: the same of one matrix.
std::unique_ptr<TensorFile> fused_experts(const TensorPlace& place, const TensorFile& file,
                                          const TensorFile* scales, const Arrivals* arrivals,
                                          TurnedExpert& turned);

}  // namespace llmservice
